# More processes than the host was said to have slots for.
mpirun -np 3 --host localhost:1 echo trained
