// Source file of the precompiled headers that the test programs of a folder share.
