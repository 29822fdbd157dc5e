"""Where batches run: in this process or on Ray; asking chat models; the store of scores."""
