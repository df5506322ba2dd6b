# A compiled plug-in, built for version 1 of a library, with version 2 installed.
set -e
gcc -shared -fPIC vec.c -o libvec.so
gcc -shared -fPIC plugin.c -o plugin.so
python -X faulthandler use.py
