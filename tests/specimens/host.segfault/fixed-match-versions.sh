# The plug-in is built again, for the version that is installed.
set -e
gcc -shared -fPIC vec.c -o libvec.so
gcc -shared -fPIC -DVERSION_2 plugin.c -o plugin.so
python -X faulthandler use.py
