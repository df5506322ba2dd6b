bash -c "echo started rank 0"
