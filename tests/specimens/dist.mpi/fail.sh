# mpirun in a container, as root.
mpirun -np 1 echo trained
