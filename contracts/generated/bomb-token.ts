// Generated from contracts/src/local/hostile/BombToken.sol by contracts/compile; do not edit.
export const bombTokenAbi = [
  {"type":"fallback","stateMutability":"nonpayable"},
] as const;

export const bombTokenBytecode =
  "0x6080604052348015600e575f5ffd5b50601880601a5f395ff3fe6080604052348015600e575f5ffd5b5062100000604051f3" as const;

export const bombTokenRuntimeBytecode =
  "0x6080604052348015600e575f5ffd5b5062100000604051f3" as const;
