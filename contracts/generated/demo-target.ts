// Generated from contracts/src/DemoTarget.sol by contracts/compile; do not edit.
export const demoTargetAbi = [
  {"type":"function","name":"setValue","inputs":[{"name":"newValue","type":"uint256"}],"outputs":[],"stateMutability":"nonpayable"},
  {"type":"function","name":"value","inputs":[],"outputs":[{"name":"","type":"uint256"}],"stateMutability":"view"},
] as const;

export const demoTargetBytecode =
  "0x6080604052348015600e575f5ffd5b50607480601a5f395ff3fe6080604052348015600e575f5ffd5b50600436106030575f3560e01c80633fa4f2451460345780635524107714604d575b5f5ffd5b603b5f5481565b60405190815260200160405180910390f35b605c6058366004605e565b5f55565b005b5f60208284031215606d575f5ffd5b503591905056" as const;

export const demoTargetRuntimeBytecode =
  "0x6080604052348015600e575f5ffd5b50600436106030575f3560e01c80633fa4f2451460345780635524107714604d575b5f5ffd5b603b5f5481565b60405190815260200160405180910390f35b605c6058366004605e565b5f55565b005b5f60208284031215606d575f5ffd5b503591905056" as const;
