// The protocol's published interface: every event, function and error with the identifier it has on chain.

export type FunctionEffect = "read" | "write" | "payable";

export type ContractInterface = {
  // Declaration with indexed flags and names → topic0.
  readonly events: Readonly<Record<string, `0x${string}`>>;
  // Signature → selector and what a call may do.
  readonly functions: Readonly<Record<string, readonly [selector: `0x${string}`, effect: FunctionEffect]>>;
  // Signature → selector.
  readonly errors: Readonly<Record<string, `0x${string}`>>;
};

export const protocolInterface = {
  AgentRegistry: {
    events: {
      "AgentRegistered(uint256 indexed agentId, address indexed owner, string metadataURI)":
        "0x0d063c6022bff16d09991a9f91882ffa112f5fb2529136f65eb4c77bbd047e43",
      "AgentUpdated(uint256 indexed agentId, string metadataURI, bytes32 capabilitiesHash)":
        "0x7a9de553b3c29b982e75187c50b72f3d7dbe65b9f5c16a18cb4d8b992db0d5c9",
      "AgentRevoked(uint256 indexed agentId)":
        "0xfff7a38bd0a2d198492b996b82c6bd083b224b0f43294f8a62fa6085f4d24ba4",
    },
    functions: {
      "registerAgent(string,bytes,bytes32)": ["0x5398cd77", "write"],
      "updateAgent(uint256,string,bytes32)": ["0x2c1e8639", "write"],
      "revokeAgent(uint256)": ["0xba7550d4", "write"],
      "getAgent(uint256)": ["0x2de5aaf7", "read"],
      "getAgentsByOwner(address)": ["0x1ab6f888", "read"],
    },
    errors: {
      "Unauthorized()": "0x82b42900",
      "AgentNotFound()": "0xe93ba223",
      "AgentAlreadyRevoked()": "0x1e3c1af7",
    },
  },
  IntentBook: {
    events: {
      "IntentSubmitted(uint256 indexed intentId, address indexed owner, uint256 nonce)":
        "0x0786b426cb6643dcb9b7ad1db3671803e9b8d567cf9f60baaff744f07f2cffba",
      "IntentCancelled(uint256 indexed intentId)":
        "0x2d8c53f76eb0afab114916b6c3aa17406ad39c7e874c92b099f79ab89c2e2a54",
      "IntentFilled(uint256 indexed intentId, address indexed solver, uint256 amountIn, uint256 amountOut)":
        "0x852fe0085fb86f8eee8c9fe0a65ed31faa0248aa76bd064453b17f9960521e11",
      "IntentFillProof(uint256 indexed intentId, bytes32 resultHash, bytes32 traceHash, uint256 indexed attestationId)":
        "0xb16e272a1b75188f4c720a56ed6f0d01a7a05683a6a1d402ca96fca7af59c400",
      "SolverBidSubmitted(uint256 indexed intentId, uint256 indexed bidId, address indexed solver, uint256 amountIn, uint256 amountOut, uint256 fee, uint256 validUntil, bytes32 executionHash)":
        "0x945dc28abc0cba878756055fcf99d9468881eab2b23e9f9d2a9897aee17aabc4",
      "SolverBidSelected(uint256 indexed intentId, uint256 indexed bidId, address indexed solver)":
        "0x93326606b7ae2f1cb13d1b6dd28d5d588d76b0676c61017ce60b7424258fd174",
      "EIP712DomainChanged()": "0x0a6387c9ea3628b88a633bb4f3b151770f70085117a15f9bf3787cda53f13d31",
    },
    functions: {
      "submitIntent((address,uint8,(uint256,uint256,uint256,uint16),(address,bytes32,bytes32,bytes32,bytes32),address,address,uint256),uint8,bytes32,bytes32)":
        ["0x7e9dacd8", "write"],
      "cancelIntent(uint256)": ["0xa0a31aac", "write"],
      "submitBid(uint256,uint256,uint256,uint256,uint256,bytes32)": ["0xcccfb9d8", "write"],
      "selectBid(uint256,uint256)": ["0xd6f5f120", "write"],
      "fillIntent(uint256,(uint256,uint256,address,bytes,bytes32,bytes32,uint256))": ["0xd2b3f602", "write"],
      "getIntent(uint256)": ["0x906e277b", "read"],
      "getIntentStatus(uint256)": ["0xf6e6958f", "read"],
      "getBid(uint256,uint256)": ["0x582c7ffd", "read"],
      "getSelectedBid(uint256)": ["0x4b3bdba5", "read"],
      "attestationRegistry()": ["0xed6d73f9", "read"],
      "eip712Domain()": ["0x84b0196e", "read"],
    },
    errors: {
      "Unauthorized()": "0x82b42900",
      "InvalidNonce()": "0x756688fe",
      "IntentExpired()": "0x408b2234",
      "IntentNotOpen()": "0x1ed17e7a",
      "ConstraintViolation()": "0xf0124133",
      "InvalidSlippage()": "0x334ee9a1",
      "InvalidDeadline()": "0x769d11e4",
      "InvalidSignature()": "0x8baa579f",
      "InvalidBid()": "0xc6388ef7",
      "BidNotFound()": "0x3f077648",
      "BidExpired()": "0xcc6d1b44",
      "BidNotSelected()": "0xb4fc1836",
      "SelectedBidRequired()": "0x571922c5",
      "ExecutionCommitmentMismatch()": "0x769b556e",
      "RequiredAttestationMissing()": "0xe25236c0",
    },
  },
  PolicyModule: {
    events: {
      "SpendLimitSet(address indexed account, address indexed token, uint256 maxPerDay)":
        "0xc2942b409a16eb5775710ee965ce37f1d97635d0e7a201c2be9e169b65ae8408",
      "TargetAllowlistUpdated(address indexed account, address indexed target, bool allowed)":
        "0xb192c777c3dfec02af451483f2f9ea2b9a3a03429a6cb2dcd4f9c6f0163cba38",
      "FunctionAllowlistUpdated(address indexed account, address indexed target, bytes4 selector, bool allowed)":
        "0xa63334ec8296c284708615b60978367379d8c8c7741efcfd0999657a9f45fb16",
      "FunctionAllowlistModeUpdated(address indexed account, bool enabled)":
        "0x1b186092ac920ff199af6adb1e4501de61252971e0ec0d1ec895daa480c226d9",
      "SpendRecorded(address indexed account, address indexed token, uint256 amount, uint256 dailyTotal)":
        "0xac8c13ed4853e784d11f5e97ff8fca20bbddf6aa991d0ba2d7d9f400baea8779",
      "PaymentPolicySet(address indexed account, address indexed merchant, address indexed token, address facilitator, uint256 maxPerPayment, uint256 maxPerDay, bool allowed)":
        "0xbb68650c2b6edef6d5bae5b1c42eea70100208602654311d62d65fcc147408b0",
      "SignedPaymentRecorded(address indexed account, address indexed merchant, address indexed token, address facilitator, uint256 amount, bytes32 paymentHash, uint256 dailyTotal)":
        "0x68b09c817eb648dd3bf244e14f891eb447f21b6699850cd11ccb158b7686e522",
      "GuardianSet(address indexed account, address indexed guardian)":
        "0xc3ce29e3ab42e524b6f6f1b4d3674898d503ee3577a64ac87b555904ebc14138",
      "AccountFrozen(address indexed account, bool frozen)":
        "0xa33e6b076d391e96626483b30e365719f79f1d6594aff6587649ffd6c82ed7fa",
    },
    functions: {
      "setSpendLimit(address,uint256)": ["0x8254aa70", "write"],
      "setTargetAllowed(address,bool)": ["0x3a3d56fa", "write"],
      "setFunctionAllowed(address,bytes4,bool)": ["0x25010d41", "write"],
      "setUseFunctionAllowlist(bool)": ["0x2d4aa053", "write"],
      "setGuardian(address)": ["0x8a0dac4a", "write"],
      "setAccountFrozen(address,bool)": ["0xcbe5404f", "write"],
      "setPaymentPolicy(address,address,address,uint256,uint256,bool)": ["0xcccd0244", "write"],
      "checkTransaction(address,uint256,bytes)": ["0x5ccc6a65", "read"],
      "recordSpend(address,uint256)": ["0x1cfd8ded", "write"],
      "checkSignedPayment(address,address,address,uint256)": ["0xe3e9e009", "read"],
      "recordSignedPayment(address,address,address,uint256,bytes32)": ["0xb42a0da2", "write"],
      "getTokenSpend(address,bytes)": ["0x540d6bfa", "read"],
      "getSpendLimit(address,address)": ["0x82706149", "read"],
      "getPaymentPolicy(address,address,address,address)": ["0x8af7f202", "read"],
      "getSpentToday(address,address)": ["0x2c7f2557", "read"],
      "isTargetAllowed(address,address)": ["0x2a2314c1", "read"],
      "isFunctionAllowed(address,address,bytes4)": ["0x0832e23d", "read"],
      "guardianOf(address)": ["0xacd52e8d", "read"],
      "isAccountFrozen(address)": ["0xe816d97f", "read"],
    },
    errors: {
      "Unauthorized()": "0x82b42900",
      "AccountFrozenError(address)": "0xad218133",
      "TargetNotAllowed(address)": "0xe356c1d3",
      "FunctionNotAllowed(address,bytes4)": "0xdd22d9b6",
      "DailySpendLimitExceeded(address,uint256,uint256)": "0xfc8916be",
      "PaymentNotAllowed(address,address,address)": "0x0ca335a9",
      "PaymentAmountExceeded(address,uint256,uint256)": "0xa5db037a",
      "PaymentAlreadyRecorded(bytes32)": "0xf7d897f5",
      "DelegateCallNotAllowed()": "0x0d89438e",
    },
  },
  PolicyAccount: {
    events: {
      "SessionKeyUpdated(address indexed sessionKey, uint48 expiresAt, bool active)":
        "0x037b92f9f26d0c9e113c03f01e189ae948f674044da553615351e806a74c9aa8",
      "SessionKeyExecuted(address indexed sessionKey, address indexed target, uint256 value, uint256 nonce)":
        "0xea843dee9cfa8585ce81bc45f5db701b7f22c2263a6dc301587d1c9728027cc4",
    },
    functions: {
      "execute(address,uint256,bytes)": ["0xb61d27f6", "write"],
      "executeWithSessionKey(address,uint256,bytes,uint256,uint256,bytes)": ["0x33cdddaf", "write"],
      "setSpendLimit(address,uint256)": ["0x8254aa70", "write"],
      "setTargetAllowed(address,bool)": ["0x3a3d56fa", "write"],
      "setFunctionAllowed(address,bytes4,bool)": ["0x25010d41", "write"],
      "setUseFunctionAllowlist(bool)": ["0x2d4aa053", "write"],
      "setSessionKey(address,uint48,bool)": ["0xa10ed98e", "write"],
      "setGuardian(address)": ["0x8a0dac4a", "write"],
      "setAccountFrozen(bool)": ["0x35f8cf87", "write"],
      "policyModule()": ["0x893866f7", "read"],
      "sessionKeys(address)": ["0xb7b8d604", "read"],
      "usedSessionNonces(address,uint256)": ["0x640011e7", "read"],
    },
    errors: {
      "ExecutionFailed(bytes)": "0x15fcd675",
      "InvalidSessionKey()": "0xbf10e9ba",
      "SessionKeyExpired()": "0xda0700a2",
      "SessionNonceUsed()": "0x4266afa6",
      "AccountUnauthorized(address)": "0x7cf8632b",
    },
  },
  AttestationRegistry: {
    events: {
      "AttestationSubmitted(uint256 indexed id, address indexed attester, bytes32 indexed schema, bytes32 subject)":
        "0xe435711436022fcb31e0944c5539ed994432831662c2cb2b68cd2108a1d613a4",
      "AttestationRevoked(uint256 indexed id)":
        "0x2cf37b6393103617c10b15f56039e3bd6fc1b07320419c47020a05a36805e044",
    },
    functions: {
      "submitAttestation(bytes32,bytes32,bytes32)": ["0xd2fc01b2", "write"],
      "revokeAttestation(uint256)": ["0x7fbb1949", "write"],
      "getAttestation(uint256)": ["0x29be4db2", "read"],
      "getAttestationsBySubject(bytes32)": ["0x220a76b8", "read"],
    },
    errors: {
      "AttestationNotFound()": "0x120a2e77",
      "Unauthorized()": "0x82b42900",
      "AlreadyRevoked()": "0x905e7107",
    },
  },
  SolverRegistry: {
    events: {
      "SolverRegistered(uint256 indexed solverId, address indexed operator, string metadataURI, bytes32 capabilitiesHash, uint256 bond)":
        "0xba5aca3b16874402c49f6c58633a6a2245e60558cf4711cab0dd0b9ed391cfb3",
      "SolverUpdated(uint256 indexed solverId, string metadataURI, bytes32 capabilitiesHash, bool active)":
        "0x87c2f87d78708accac9c4c31a8078aca2240c6da7e1d58b40f1a79a245bd4d1e",
      "SolverBondChanged(uint256 indexed solverId, uint256 bond)":
        "0x9917973e6f39b5ac31eb44eb6b956d052a08b9c487f766408ae2302f9c943b6d",
    },
    functions: {
      "registerSolver(string,bytes32)": ["0xf02b94bc", "payable"],
      "updateSolver(uint256,string,bytes32,bool)": ["0x6efd1cf4", "write"],
      "addBond(uint256)": ["0x4b8d24b0", "payable"],
      "withdrawBond(uint256,uint256)": ["0x6ffcdfc0", "write"],
      "getSolver(uint256)": ["0x2addeab6", "read"],
      "getSolverByOperator(address)": ["0x3a3abbea", "read"],
    },
    errors: {
      "Unauthorized()": "0x82b42900",
      "SolverNotFound()": "0x51a46672",
      "SolverAlreadyRegistered()": "0x85712704",
      "SolverInactive()": "0xe1ed8d92",
    },
  },
  AttestorRegistry: {
    events: {
      "AttestorRegistered(uint256 indexed attestorId, address indexed operator, string metadataURI, bytes32 schemasHash)":
        "0x17822ec9bcc3ad5bb17e7799a36b1d62ab995a1844c1fc6da517f4720d218d84",
      "AttestorUpdated(uint256 indexed attestorId, string metadataURI, bytes32 schemasHash, bool active)":
        "0x46a169735e3100bd16f1977b13ad07fb72b58496c4fd2a92df87b3b9c72a137d",
    },
    functions: {
      "registerAttestor(string,bytes32)": ["0x69ae81de", "write"],
      "updateAttestor(uint256,string,bytes32,bool)": ["0x023e5721", "write"],
      "getAttestor(uint256)": ["0xa6656cb1", "read"],
      "getAttestorByOperator(address)": ["0x548f2bd2", "read"],
    },
    errors: {
      "Unauthorized()": "0x82b42900",
      "AttestorNotFound()": "0x115197e1",
      "AttestorAlreadyRegistered()": "0x276183f2",
    },
  },
  CommerceRegistry: {
    events: {
      "MerchantRegistered(uint256 indexed merchantId, address indexed owner, address indexed payoutAddress, string metadataURI, bytes32 metadataHash)":
        "0xe140fab83ca0dd89db0186d87061e0095caf066c5c344f03714871702de851c6",
      "MerchantUpdated(uint256 indexed merchantId, address indexed payoutAddress, string metadataURI, bytes32 metadataHash, bool active)":
        "0x4635265c396f63d226c4f21be6e06b6fd31bd901c789c42e29fd1a9b9f1d44b3",
      "ServiceRegistered(uint256 indexed serviceNumericId, uint256 indexed merchantId, string serviceId, string metadataURI, bytes32 metadataHash, bytes32 capabilityHash)":
        "0x482e41e9b69a56754be22d3cf74201e019ede186a3360f5077bfeec39cb81bd1",
      "ServiceUpdated(uint256 indexed serviceNumericId, string metadataURI, bytes32 metadataHash, bytes32 capabilityHash, bool active)":
        "0xfa0161a615e6125bac19e1094feddfa15f6091f032765c0e5e9a21cb7953dfc0",
      "FacilitatorRegistered(uint256 indexed facilitatorId, address indexed facilitator, string metadataURI, bytes32 metadataHash)":
        "0x618072c992db24106f05b3dbc2307367de82a807e3b4e8e86221c958dec1ad0f",
      "FacilitatorUpdated(uint256 indexed facilitatorId, address indexed facilitator, string metadataURI, bytes32 metadataHash, bool active)":
        "0xda106ecb43f8d8dea3fa8843e2e72e31740673d915f10eb80243386108d494a5",
      "QuoteCommitted(bytes32 indexed quoteHash, uint256 indexed merchantId, uint256 indexed serviceNumericId, address agent, address token, address facilitator, uint256 amount, uint8 paymentRail, uint16 protocolFeeBps, uint256 protocolFeeAmount, uint256 expiresAt, uint256 paymentNonce, bytes32 resourceHash, bytes32 termsHash, bytes32 x402PayloadHash)":
        "0xd4e553490d12eaed918a33c6185f3e9b11371ec6b17dec7ee27170d1893d0c36",
      "ReceiptRecorded(uint256 indexed receiptId, bytes32 indexed quoteHash, address indexed agent, uint256 merchantId, uint256 serviceNumericId, address token, uint256 amount, uint8 paymentRail, uint16 protocolFeeBps, uint256 protocolFeeAmount, address facilitator, bytes32 resultHash, bytes32 resourceHash, bytes32 fulfillmentHash)":
        "0xda466df209b6b54d7157f575a87e0ad08dc75fcee999605a9ad96e058164a8e6",
      "FulfillmentRecorded(uint256 indexed receiptId, bytes32 fulfillmentHash)":
        "0x369fc72c4d43d58a3472f86fd062854e3af1201f060cb4d71128ec216e7325e8",
      "DisputeOpened(uint256 indexed disputeId, uint256 indexed receiptId, address indexed opener, bytes32 reasonHash)":
        "0xedf31fd013a38f6b736218393bfd40eb05c37155c1fe05b8e02cc7eed4681030",
      "DisputeResolved(uint256 indexed disputeId, uint8 status, bytes32 resolutionHash)":
        "0x5e1a1911e70e6070e19dcdea128426643f144adeba0ac122c1a8b63d3ad2df7d",
      "TrustSignalRecorded(uint256 indexed signalId, uint8 indexed subjectType, uint256 indexed subjectId, uint8 kind, address reporter, bytes32 signalHash)":
        "0xecd4145651e2363f16975113bfd59a03e33405e75c34abd78f929940d0e6c916",
    },
    functions: {
      "registerMerchant(address,string,bytes32)": ["0x850528db", "write"],
      "updateMerchant(uint256,address,string,bytes32,bool)": ["0x94cf74c7", "write"],
      "registerService(uint256,string,string,bytes32,bytes32)": ["0xb4514481", "write"],
      "updateService(uint256,string,bytes32,bytes32,bool)": ["0x5ccf61a6", "write"],
      "registerFacilitator(address,string,bytes32)": ["0xb99ccbe0", "write"],
      "updateFacilitator(uint256,string,bytes32,bool)": ["0xdc76142f", "write"],
      "commitQuote((uint256,uint256,address,address,address,uint256,uint8,uint256,uint256,bytes32,bytes32,bytes32))":
        ["0xbdc9cb35", "write"],
      "recordReceipt(bytes32,bytes32)": ["0xb6ea27c2", "write"],
      "recordFulfillment(uint256,bytes32)": ["0xb00b7d7a", "write"],
      "openDispute(uint256,bytes32)": ["0xf3eca9f5", "write"],
      "resolveDispute(uint256,uint8,bytes32)": ["0x4419bf31", "write"],
      "recordTrustSignal(uint8,uint256,uint8,bytes32)": ["0xa2aeb55c", "write"],
      "getMerchant(uint256)": ["0x5d32798a", "read"],
      "getService(uint256)": ["0xef0e239b", "read"],
      "getFacilitator(uint256)": ["0xe04c4481", "read"],
      "getQuote(bytes32)": ["0x60f85c67", "read"],
      "getReceipt(uint256)": ["0xb63e6ac3", "read"],
      "getDispute(uint256)": ["0xe3a96cbd", "read"],
      "getTrustSignal(uint256)": ["0xf629e4b7", "read"],
      "computeQuoteHash((uint256,uint256,address,address,address,uint256,uint8,uint256,uint256,bytes32,bytes32,bytes32))":
        ["0xb7cc5377", "read"],
      "computeQuoteHash(uint256,uint256,address,address,address,uint256,uint8,uint256,uint256,bytes32,bytes32,bytes32)":
        ["0x70445da0", "read"],
      "PROTOCOL_FEE_BPS()": ["0xbe378228", "read"],
    },
    errors: {
      "Unauthorized()": "0x82b42900",
      "MerchantNotFound()": "0xdbd9f6be",
      "ServiceNotFound()": "0x9781bec9",
      "FacilitatorNotFound()": "0x12b3d944",
      "FacilitatorInactive()": "0xdb81e6bc",
      "QuoteNotFound()": "0xcf533f49",
      "QuoteExpired()": "0x8727a7f9",
      "QuoteAlreadySettled()": "0x3c9e5efc",
      "ReceiptNotFound()": "0x03bbb48b",
      "DisputeNotFound()": "0x4250af08",
    },
  },
  SettlementAdapter: {
    events: {
      "SettlementExecuted(bytes32 indexed quoteHash, bytes32 indexed settlementPlanHash, address indexed payer, address token, uint256 grossAmount, bytes32 executionHash)":
        "0xf638b66c6428eeed1ccb45c6f2c0cc2a45d98afc971b587843c796c6f003a8d7",
    },
    functions: {
      "executeSettlement((bytes32,bytes32,address,address,uint256,uint256,(uint8,address,address,uint256,bytes32)[]))":
        ["0x66aa0a19", "payable"],
      "NATIVE_TOKEN()": ["0x31f7d964", "read"],
    },
    errors: {
      "EmptyQuoteHash()": "0xcd6c92c7",
      "EmptySettlementPlanHash()": "0x4c1eea32",
      "DeadlineExpired()": "0x1ab7da6b",
      "PayerMismatch()": "0xa7b0ffd4",
      "NoSettlementLines()": "0xb68ef950",
      "InvalidRecipient()": "0x9c8d2cd2",
      "InvalidLineToken()": "0x4d710485",
      "InvalidLineAmount()": "0x057e2ec0",
      "InvalidNativeValue()": "0x2723e9c2",
      "InvalidERC20Value()": "0x21b21c43",
      "LineTotalMismatch()": "0x016ecca3",
      "NativeTransferFailed()": "0xf4b3b1bc",
    },
  },
} as const satisfies Readonly<Record<string, ContractInterface>>;

/** The fields that each getter returns, in order. */
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
