"""Language models behind one small protocol, one module per backend."""
