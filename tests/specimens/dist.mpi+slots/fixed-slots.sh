# As many processes as the host was said to have slots for.
mpirun -np 3 --host localhost:3 --bind-to none echo trained
