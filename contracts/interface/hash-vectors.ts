// The protocol's published hashes: type hashes, and one worked example of every hash a client computes.

export const intentTypeHashes = {
  Constraints: "0x6586c9d28a74a720e8e44222ae1051f911bcd6fd73cd29010c94472d49348a53",
  ExecutionRequirements: "0x74a650fd856a6a94545925cb4559720a023e369c6a833131fa5991c3f57dcb9d",
  Intent: "0x61d67a4add8c66b737b779037d4a60d03efdbbe98090c521b89ddac8a772da88",
  EIP712Domain: "0x8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f",
} as const;

// The byte repeated to an address, and to a word.
const a = (byte: string): `0x${string}` => `0x${byte.repeat(20)}`;
const b = (byte: string): `0x${string}` => `0x${byte.repeat(32)}`;

// Base Sepolia and the contracts deployed there.
const chainId = 84532n;

export const intentVector = {
  chainId,
  intentBook: "0x16f7e7c4856bad4dcbe61400630087dab75b229e",
  intent: {
    owner: a("11"),
    intentType: 0,
    constraints: { amountInMax: 1000n, amountOutMin: 900n, deadline: 2_000_000_000n, slippageBps: 50 },
    execution: {
      target: a("22"),
      dataHash: b("33"),
      requiredAttestationSubject: b("44"),
      requiredAttestationSchema: b("55"),
      metadataURIHash: b("66"),
    },
    inputToken: a("77"),
    outputToken: a("88"),
    nonce: 7n,
  },
  structHash: "0xd5159788deabee1cf5ea48c95f72dd0bf2566e42fa24a63f0cb69ec037dace9b",
  digest: "0xbc666b8729f64d4b0a026c54abd4ad3b8d69c065ae040f9c8e80896873a419f9",
} as const;

export const quoteVector = {
  chainId,
  commerceRegistry: "0xf0bf44b28567f0b3d2370dc7af8a63335746d8d4",
  quote: {
    merchantId: 1n,
    serviceNumericId: 2n,
    agent: a("11"),
    token: a("22"),
    facilitator: a("00"),
    amount: 1_000_000n,
    paymentRail: 0,
    expiresAt: 2_000_000_000n,
    paymentNonce: 1n,
    resourceHash: b("33"),
    termsHash: b("44"),
    x402PayloadHash: b("00"),
  },
  quoteHash: "0x8ff648c9f64390a85172ce2173eabd708226de96d4cd21a30f545117bb569de0",
} as const;

export const settlementVector = {
  chainId,
  settlementAdapter: "0xbD61097Cc7b7E1F03E88Fe20E9512ff091126cb3",
  instruction: {
    quoteHash: b("33"),
    settlementPlanHash: b("44"),
    payer: a("11"),
    token: a("22"),
    grossAmount: 1_000_000n,
    deadline: 2_000_000_000n,
    lines: [{ kind: 0, recipient: a("55"), token: a("22"), amount: 1_000_000n, metadataHash: b("00") }],
  },
  executionHash: "0x8bb6b46615015594d768fa21a99ab2ad1aaab1f78bfad21f866b7dd986b95a32",
} as const;

export const sessionVector = {
  chainId,
  account: a("11"),
  call: { target: a("22"), value: 5n, data: "0xdeadbeef", deadline: 2_000_000_000n, nonce: 9n },
  digest: "0x0bfbe96baae33ab1e6dc5265645a7df45f414842aa19d64a671e1f4fcfdd1214",
} as const;
