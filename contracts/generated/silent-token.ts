// Generated from contracts/src/local/hostile/SilentToken.sol by contracts/compile; do not edit.
export const silentTokenAbi = [
  {"type":"fallback","stateMutability":"payable"},
  {"type":"receive","stateMutability":"payable"},
] as const;

export const silentTokenBytecode =
  "0x6080604052348015600e575f5ffd5b50600680601a5f395ff3fe608060405200" as const;

export const silentTokenRuntimeBytecode =
  "0x608060405200" as const;
