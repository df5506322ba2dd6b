import runcore

print("tracker on core", runcore.version)
