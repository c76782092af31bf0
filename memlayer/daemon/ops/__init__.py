"""The operations that the command line may ask for."""
