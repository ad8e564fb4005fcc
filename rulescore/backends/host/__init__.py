"""What the adapters share: functions as AD systems can call them, here on the host or there on their own arrays."""
