// The protocol's published records: the fields each getter returns, in order.

export const protocolRecords = {
  "AgentRegistry.getAgent":
    "address owner, string metadataURI, bytes pubkey, bytes32 capabilitiesHash, bool revoked",
  "IntentBook.getIntent":
    "address owner, uint8 intentType, (uint256 amountInMax, uint256 amountOutMin, uint256 deadline, uint16 slippageBps) constraints, (address target, bytes32 dataHash, bytes32 requiredAttestationSubject, bytes32 requiredAttestationSchema, bytes32 metadataURIHash) execution, address inputToken, address outputToken, uint256 nonce",
  "IntentBook.getBid":
    "address solver, uint256 amountIn, uint256 amountOut, uint256 fee, uint256 validUntil, bytes32 executionHash, bool selected, bool exists",
  "PolicyModule.getSpendLimit": "uint256 maxPerDay, uint256 spentToday, uint48 lastResetTimestamp",
  "PolicyModule.getPaymentPolicy":
    "uint256 maxPerPayment, uint256 maxPerDay, uint256 spentToday, uint48 lastResetTimestamp, bool allowed",
  "AttestationRegistry.getAttestation":
    "address attester, bytes32 schema, bytes32 subject, bytes32 dataHash, uint64 timestamp, bool revoked",
  "SolverRegistry.getSolver":
    "address operator, string metadataURI, bytes32 capabilitiesHash, uint256 bond, uint256 fills, uint256 successfulFills, uint256 failedFills, bool active",
  "AttestorRegistry.getAttestor":
    "address operator, string metadataURI, bytes32 schemasHash, uint256 attestations, uint256 revokedAttestations, bool active",
  "CommerceRegistry.getMerchant":
    "address owner, address payoutAddress, string metadataURI, bytes32 metadataHash, bool active",
  "CommerceRegistry.getService":
    "uint256 merchantId, string serviceId, string metadataURI, bytes32 metadataHash, bytes32 capabilityHash, bool active",
  "CommerceRegistry.getFacilitator":
    "address facilitator, string metadataURI, bytes32 metadataHash, bool active",
  "CommerceRegistry.getQuote":
    "uint256 merchantId, uint256 serviceNumericId, address agent, address token, address facilitator, uint256 amount, uint8 paymentRail, uint16 protocolFeeBps, uint256 protocolFeeAmount, uint256 expiresAt, uint256 paymentNonce, bytes32 resourceHash, bytes32 termsHash, bytes32 x402PayloadHash, bool settled",
  "CommerceRegistry.getReceipt":
    "bytes32 quoteHash, address agent, uint256 merchantId, uint256 serviceNumericId, address token, uint256 amount, uint8 paymentRail, uint16 protocolFeeBps, uint256 protocolFeeAmount, address facilitator, bytes32 resultHash, bytes32 resourceHash, bytes32 fulfillmentHash",
  "CommerceRegistry.getDispute":
    "uint256 receiptId, address opener, bytes32 reasonHash, uint8 status, bytes32 resolutionHash",
  "CommerceRegistry.getTrustSignal":
    "uint8 subjectType, uint256 subjectId, uint8 kind, address reporter, bytes32 signalHash",
} as const satisfies Readonly<Record<string, string>>;
