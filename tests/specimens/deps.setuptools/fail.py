# setuptools 82 came without pkg_resources, with which the program looks up versions.
import pkg_resources

print("setuptools", bool(pkg_resources.get_distribution("setuptools").version))
