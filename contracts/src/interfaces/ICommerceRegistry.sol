// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Registry of commerce between agents and merchants: who sells what, quotes, receipts, disputes, signals.
/// @dev The registry records commitments and never moves tokens. All identifiers count from 1.
interface ICommerceRegistry {
    /// @notice How a quote is paid.
    enum PaymentRail {
        TRANSFER,
        SWAP,
        FACILITATOR,
        X402
    }

    /// @notice Where a dispute stands.
    enum DisputeStatus {
        OPEN,
        RESOLVED,
        REJECTED
    }

    /// @notice What a trust signal is about.
    enum SignalSubject {
        MERCHANT,
        SERVICE,
        FACILITATOR,
        AGENT
    }

    /// @notice What a trust signal says.
    enum SignalKind {
        VERIFICATION,
        RISK,
        COMPLIANCE,
        FULFILLMENT
    }

    /// @notice One merchant.
    /// @param owner Account that registered the merchant and alone may change it.
    /// @param payoutAddress Where the merchant wants to be paid.
    /// @param metadataURI Where the merchant describes itself.
    /// @param metadataHash Commitment to that description.
    /// @param active Whether the merchant is open for business.
    struct Merchant {
        address owner;
        address payoutAddress;
        string metadataURI;
        bytes32 metadataHash;
        bool active;
    }

    /// @notice One service of a merchant.
    /// @param merchantId Merchant that offers it.
    /// @param serviceId Name the merchant gave it.
    /// @param metadataURI Where it is described.
    /// @param metadataHash Commitment to that description.
    /// @param capabilityHash Commitment to what it can do.
    /// @param active Whether it is on offer.
    struct Service {
        uint256 merchantId;
        string serviceId;
        string metadataURI;
        bytes32 metadataHash;
        bytes32 capabilityHash;
        bool active;
    }

    /// @notice One facilitator, who settles payments for others.
    /// @param facilitator Account that settles.
    /// @param metadataURI Where it describes itself.
    /// @param metadataHash Commitment to that description.
    /// @param active Whether it may be named in new quotes.
    struct Facilitator {
        address facilitator;
        string metadataURI;
        bytes32 metadataHash;
        bool active;
    }

    /// @notice The terms a merchant commits to.
    /// @param merchantId Merchant that quotes.
    /// @param serviceNumericId Service that is quoted.
    /// @param agent Agent the quote is for.
    /// @param token Token to be paid in.
    /// @param facilitator Facilitator that settles, the zero address for none.
    /// @param amount Amount to be paid.
    /// @param paymentRail How it is paid.
    /// @param expiresAt Last second at which a receipt may be recorded.
    /// @param paymentNonce Number that tells equal quotes apart.
    /// @param resourceHash Commitment to what is bought.
    /// @param termsHash Commitment to the terms.
    /// @param x402PayloadHash Commitment to the x402 payload, zero for other rails.
    struct QuoteCommitment {
        uint256 merchantId;
        uint256 serviceNumericId;
        address agent;
        address token;
        address facilitator;
        uint256 amount;
        PaymentRail paymentRail;
        uint256 expiresAt;
        uint256 paymentNonce;
        bytes32 resourceHash;
        bytes32 termsHash;
        bytes32 x402PayloadHash;
    }

    /// @notice A committed quote.
    /// @param merchantId As committed.
    /// @param serviceNumericId As committed.
    /// @param agent As committed.
    /// @param token As committed.
    /// @param facilitator As committed.
    /// @param amount As committed.
    /// @param paymentRail As committed.
    /// @param protocolFeeBps Protocol fee rate in hundredths of a percent.
    /// @param protocolFeeAmount Protocol fee contained in the amount.
    /// @param expiresAt As committed.
    /// @param paymentNonce As committed.
    /// @param resourceHash As committed.
    /// @param termsHash As committed.
    /// @param x402PayloadHash As committed.
    /// @param settled True once its receipt was recorded.
    struct Quote {
        uint256 merchantId;
        uint256 serviceNumericId;
        address agent;
        address token;
        address facilitator;
        uint256 amount;
        PaymentRail paymentRail;
        uint16 protocolFeeBps;
        uint256 protocolFeeAmount;
        uint256 expiresAt;
        uint256 paymentNonce;
        bytes32 resourceHash;
        bytes32 termsHash;
        bytes32 x402PayloadHash;
        bool settled;
    }

    /// @notice The receipt of a settled quote.
    /// @param quoteHash Quote that was paid.
    /// @param agent Agent that paid.
    /// @param merchantId Merchant that was paid.
    /// @param serviceNumericId Service that was bought.
    /// @param token Token that was paid in.
    /// @param amount Amount that was paid.
    /// @param paymentRail How it was paid.
    /// @param protocolFeeBps Protocol fee rate in hundredths of a percent.
    /// @param protocolFeeAmount Protocol fee contained in the amount.
    /// @param facilitator Facilitator that settled, the zero address for none.
    /// @param resultHash Commitment to the result of the payment.
    /// @param resourceHash Commitment to what was bought.
    /// @param fulfillmentHash Commitment to the delivery, zero until it was recorded.
    struct Receipt {
        bytes32 quoteHash;
        address agent;
        uint256 merchantId;
        uint256 serviceNumericId;
        address token;
        uint256 amount;
        PaymentRail paymentRail;
        uint16 protocolFeeBps;
        uint256 protocolFeeAmount;
        address facilitator;
        bytes32 resultHash;
        bytes32 resourceHash;
        bytes32 fulfillmentHash;
    }

    /// @notice One dispute about a receipt.
    /// @param receiptId Receipt in dispute.
    /// @param opener Account that opened it.
    /// @param reasonHash Commitment to the reason.
    /// @param status Where it stands.
    /// @param resolutionHash Commitment to the resolution, zero while it is open.
    struct Dispute {
        uint256 receiptId;
        address opener;
        bytes32 reasonHash;
        DisputeStatus status;
        bytes32 resolutionHash;
    }

    /// @notice One trust signal.
    /// @param subjectType What it is about.
    /// @param subjectId Identifier of the subject in its registry.
    /// @param kind What it says.
    /// @param reporter Account that said it.
    /// @param signalHash Commitment to its content.
    struct TrustSignal {
        SignalSubject subjectType;
        uint256 subjectId;
        SignalKind kind;
        address reporter;
        bytes32 signalHash;
    }

    /// @notice A merchant was registered.
    /// @param merchantId Identifier of the merchant.
    /// @param owner Account that registered it.
    /// @param payoutAddress Where it wants to be paid.
    /// @param metadataURI Where it describes itself.
    /// @param metadataHash Commitment to that description.
    event MerchantRegistered(
        uint256 indexed merchantId,
        address indexed owner,
        address indexed payoutAddress,
        string metadataURI,
        bytes32 metadataHash
    );

    /// @notice The owner changed a merchant.
    /// @param merchantId Identifier of the merchant.
    /// @param payoutAddress Where it wants to be paid.
    /// @param metadataURI Where it describes itself.
    /// @param metadataHash Commitment to that description.
    /// @param active Whether it is open for business.
    event MerchantUpdated(
        uint256 indexed merchantId,
        address indexed payoutAddress,
        string metadataURI,
        bytes32 metadataHash,
        bool active
    );

    /// @notice A service was registered.
    /// @param serviceNumericId Identifier of the service.
    /// @param merchantId Merchant that offers it.
    /// @param serviceId Name the merchant gave it.
    /// @param metadataURI Where it is described.
    /// @param metadataHash Commitment to that description.
    /// @param capabilityHash Commitment to what it can do.
    event ServiceRegistered(
        uint256 indexed serviceNumericId,
        uint256 indexed merchantId,
        string serviceId,
        string metadataURI,
        bytes32 metadataHash,
        bytes32 capabilityHash
    );

    /// @notice The merchant changed a service.
    /// @param serviceNumericId Identifier of the service.
    /// @param metadataURI Where it is described.
    /// @param metadataHash Commitment to that description.
    /// @param capabilityHash Commitment to what it can do.
    /// @param active Whether it is on offer.
    event ServiceUpdated(
        uint256 indexed serviceNumericId,
        string metadataURI,
        bytes32 metadataHash,
        bytes32 capabilityHash,
        bool active
    );

    /// @notice A facilitator was registered, or registered itself anew under its former identifier.
    /// @param facilitatorId Identifier of the facilitator.
    /// @param facilitator Account that settles.
    /// @param metadataURI Where it describes itself.
    /// @param metadataHash Commitment to that description.
    event FacilitatorRegistered(
        uint256 indexed facilitatorId,
        address indexed facilitator,
        string metadataURI,
        bytes32 metadataHash
    );

    /// @notice A facilitator changed itself.
    /// @param facilitatorId Identifier of the facilitator.
    /// @param facilitator Account that settles.
    /// @param metadataURI Where it describes itself.
    /// @param metadataHash Commitment to that description.
    /// @param active Whether it may be named in new quotes.
    event FacilitatorUpdated(
        uint256 indexed facilitatorId,
        address indexed facilitator,
        string metadataURI,
        bytes32 metadataHash,
        bool active
    );

    /// @notice A merchant committed to a quote.
    /// @param quoteHash Identity of the quote.
    /// @param merchantId Merchant that quotes.
    /// @param serviceNumericId Service that is quoted.
    /// @param agent Agent the quote is for.
    /// @param token Token to be paid in.
    /// @param facilitator Facilitator that settles, the zero address for none.
    /// @param amount Amount to be paid.
    /// @param paymentRail How it is paid.
    /// @param protocolFeeBps Protocol fee rate in hundredths of a percent.
    /// @param protocolFeeAmount Protocol fee contained in the amount.
    /// @param expiresAt Last second at which a receipt may be recorded.
    /// @param paymentNonce Number that tells equal quotes apart.
    /// @param resourceHash Commitment to what is bought.
    /// @param termsHash Commitment to the terms.
    /// @param x402PayloadHash Commitment to the x402 payload.
    event QuoteCommitted(
        bytes32 indexed quoteHash,
        uint256 indexed merchantId,
        uint256 indexed serviceNumericId,
        address agent,
        address token,
        address facilitator,
        uint256 amount,
        PaymentRail paymentRail,
        uint16 protocolFeeBps,
        uint256 protocolFeeAmount,
        uint256 expiresAt,
        uint256 paymentNonce,
        bytes32 resourceHash,
        bytes32 termsHash,
        bytes32 x402PayloadHash
    );

    /// @notice A quote was paid and its receipt recorded.
    /// @param receiptId Identifier of the receipt.
    /// @param quoteHash Quote that was paid.
    /// @param agent Agent that paid.
    /// @param merchantId Merchant that was paid.
    /// @param serviceNumericId Service that was bought.
    /// @param token Token that was paid in.
    /// @param amount Amount that was paid.
    /// @param paymentRail How it was paid.
    /// @param protocolFeeBps Protocol fee rate in hundredths of a percent.
    /// @param protocolFeeAmount Protocol fee contained in the amount.
    /// @param facilitator Facilitator that settled, the zero address for none.
    /// @param resultHash Commitment to the result of the payment.
    /// @param resourceHash Commitment to what was bought.
    /// @param fulfillmentHash Always zero here; delivery is recorded later.
    event ReceiptRecorded(
        uint256 indexed receiptId,
        bytes32 indexed quoteHash,
        address indexed agent,
        uint256 merchantId,
        uint256 serviceNumericId,
        address token,
        uint256 amount,
        PaymentRail paymentRail,
        uint16 protocolFeeBps,
        uint256 protocolFeeAmount,
        address facilitator,
        bytes32 resultHash,
        bytes32 resourceHash,
        bytes32 fulfillmentHash
    );

    /// @notice The delivery of a paid quote was recorded; a later record replaces it.
    /// @param receiptId Identifier of the receipt.
    /// @param fulfillmentHash Commitment to the delivery.
    event FulfillmentRecorded(uint256 indexed receiptId, bytes32 fulfillmentHash);

    /// @notice A party to a receipt disputed it.
    /// @param disputeId Identifier of the dispute.
    /// @param receiptId Receipt in dispute.
    /// @param opener Account that opened it.
    /// @param reasonHash Commitment to the reason.
    event DisputeOpened(
        uint256 indexed disputeId,
        uint256 indexed receiptId,
        address indexed opener,
        bytes32 reasonHash
    );

    /// @notice A dispute was closed.
    /// @param disputeId Identifier of the dispute.
    /// @param status RESOLVED or REJECTED.
    /// @param resolutionHash Commitment to the resolution.
    event DisputeResolved(uint256 indexed disputeId, DisputeStatus status, bytes32 resolutionHash);

    /// @notice Someone recorded a trust signal.
    /// @param signalId Identifier of the signal.
    /// @param subjectType What it is about.
    /// @param subjectId Identifier of the subject in its registry.
    /// @param kind What it says.
    /// @param reporter Account that said it.
    /// @param signalHash Commitment to its content.
    event TrustSignalRecorded(
        uint256 indexed signalId,
        SignalSubject indexed subjectType,
        uint256 indexed subjectId,
        SignalKind kind,
        address reporter,
        bytes32 signalHash
    );

    /// @notice The caller may not do this.
    error Unauthorized();

    /// @notice No merchant has this identifier.
    error MerchantNotFound();

    /// @notice No service has this identifier, or it belongs to another merchant.
    error ServiceNotFound();

    /// @notice No such facilitator is registered, or the rail needs one and none was named.
    error FacilitatorNotFound();

    /// @notice The facilitator is not active.
    error FacilitatorInactive();

    /// @notice No quote with this hash was committed.
    error QuoteNotFound();

    /// @notice The quote can no longer be settled.
    error QuoteExpired();

    /// @notice The quote already has its receipt.
    error QuoteAlreadySettled();

    /// @notice No receipt has this identifier.
    error ReceiptNotFound();

    /// @notice No dispute has this identifier.
    error DisputeNotFound();

    /// @notice The quote was committed before; committing it again would make a settled quote payable once more.
    /// @param quoteHash Identity of the quote.
    error QuoteAlreadyCommitted(bytes32 quoteHash);

    /// @notice The merchant already uses this name for a service.
    /// @param merchantId Merchant that offers it.
    /// @param serviceId Name in use.
    error ServiceIdTaken(uint256 merchantId, string serviceId);

    /// @notice The address is registered, so only it may register again.
    /// @param facilitator Account that settles.
    /// @param facilitatorId Its identifier.
    error FacilitatorAlreadyRegistered(address facilitator, uint256 facilitatorId);

    /// @notice The zero address stands for no facilitator and can not be one.
    /// @param facilitator Address that was given.
    error InvalidFacilitator(address facilitator);

    /// @notice The dispute was closed before.
    /// @param disputeId Identifier of the dispute.
    error DisputeAlreadyResolved(uint256 disputeId);

    /// @notice A dispute can only become RESOLVED or REJECTED.
    /// @param status Status that was given.
    error InvalidDisputeStatus(DisputeStatus status);

    /// @notice Registers a merchant owned by the caller.
    /// @param payoutAddress Where it wants to be paid.
    /// @param metadataURI Where it describes itself.
    /// @param metadataHash Commitment to that description.
    /// @return merchantId Identifier of the new merchant.
    function registerMerchant(
        address payoutAddress,
        string calldata metadataURI,
        bytes32 metadataHash
    ) external returns (uint256 merchantId);

    /// @notice Changes a merchant; owner only.
    /// @param merchantId Identifier of the merchant.
    /// @param payoutAddress Where it wants to be paid.
    /// @param metadataURI Where it describes itself.
    /// @param metadataHash Commitment to that description.
    /// @param active Whether it is open for business.
    function updateMerchant(
        uint256 merchantId,
        address payoutAddress,
        string calldata metadataURI,
        bytes32 metadataHash,
        bool active
    ) external;

    /// @notice Registers a service of a merchant; merchant owner only, under a name the merchant does not use yet.
    /// @param merchantId Merchant that offers it.
    /// @param serviceId Name the merchant gives it.
    /// @param metadataURI Where it is described.
    /// @param metadataHash Commitment to that description.
    /// @param capabilityHash Commitment to what it can do.
    /// @return serviceNumericId Identifier of the new service.
    function registerService(
        uint256 merchantId,
        string calldata serviceId,
        string calldata metadataURI,
        bytes32 metadataHash,
        bytes32 capabilityHash
    ) external returns (uint256 serviceNumericId);

    /// @notice Changes a service; merchant owner only.
    /// @param serviceNumericId Identifier of the service.
    /// @param metadataURI Where it is described.
    /// @param metadataHash Commitment to that description.
    /// @param capabilityHash Commitment to what it can do.
    /// @param active Whether it is on offer.
    function updateService(
        uint256 serviceNumericId,
        string calldata metadataURI,
        bytes32 metadataHash,
        bytes32 capabilityHash,
        bool active
    ) external;

    /// @notice Registers a facilitator; anyone may, once. The facilitator itself may register again: it keeps its
    /// identifier, its description is replaced and it becomes active.
    /// @param facilitator Account that settles.
    /// @param metadataURI Where it describes itself.
    /// @param metadataHash Commitment to that description.
    /// @return facilitatorId Identifier of the facilitator.
    function registerFacilitator(
        address facilitator,
        string calldata metadataURI,
        bytes32 metadataHash
    ) external returns (uint256 facilitatorId);

    /// @notice Changes a facilitator; the facilitator itself only.
    /// @param facilitatorId Identifier of the facilitator.
    /// @param metadataURI Where it describes itself.
    /// @param metadataHash Commitment to that description.
    /// @param active Whether it may be named in new quotes.
    function updateFacilitator(
        uint256 facilitatorId,
        string calldata metadataURI,
        bytes32 metadataHash,
        bool active
    ) external;

    /// @notice Commits to a quote, once; merchant owner only. The rails FACILITATOR and X402 need an active
    /// facilitator; the others take one or none.
    /// @param quote Terms of the quote.
    /// @return quoteHash Identity of the quote.
    function commitQuote(QuoteCommitment calldata quote) external returns (bytes32 quoteHash);

    /// @notice Records that a quote was paid, once. On the rails FACILITATOR and X402 the facilitator only; on the
    /// others the merchant owner or the agent.
    /// @param quoteHash Quote that was paid.
    /// @param resultHash Commitment to the result of the payment.
    /// @return receiptId Identifier of the new receipt.
    function recordReceipt(bytes32 quoteHash, bytes32 resultHash) external returns (uint256 receiptId);

    /// @notice Records the delivery; merchant owner or facilitator only, as often as needed.
    /// @param receiptId Identifier of the receipt.
    /// @param fulfillmentHash Commitment to the delivery.
    function recordFulfillment(uint256 receiptId, bytes32 fulfillmentHash) external;

    /// @notice Disputes a receipt; its agent, merchant owner or facilitator only.
    /// @param receiptId Receipt in dispute.
    /// @param reasonHash Commitment to the reason.
    /// @return disputeId Identifier of the new dispute.
    function openDispute(uint256 receiptId, bytes32 reasonHash) external returns (uint256 disputeId);

    /// @notice Closes a dispute, once; merchant owner or facilitator only.
    /// @param disputeId Identifier of the dispute.
    /// @param status RESOLVED or REJECTED.
    /// @param resolutionHash Commitment to the resolution.
    function resolveDispute(uint256 disputeId, DisputeStatus status, bytes32 resolutionHash) external;

    /// @notice Records a trust signal in the caller's name; anyone may, the subject is not looked up.
    /// @param subjectType What it is about.
    /// @param subjectId Identifier of the subject in its registry.
    /// @param kind What it says.
    /// @param signalHash Commitment to its content.
    /// @return signalId Identifier of the new signal.
    function recordTrustSignal(
        SignalSubject subjectType,
        uint256 subjectId,
        SignalKind kind,
        bytes32 signalHash
    ) external returns (uint256 signalId);

    /// @notice Reads a merchant; reverts with MerchantNotFound when there is none.
    /// @param merchantId Identifier of the merchant.
    /// @return The merchant.
    function getMerchant(uint256 merchantId) external view returns (Merchant memory);

    /// @notice Reads a service; reverts with ServiceNotFound when there is none.
    /// @param serviceNumericId Identifier of the service.
    /// @return The service.
    function getService(uint256 serviceNumericId) external view returns (Service memory);

    /// @notice Reads a facilitator; reverts with FacilitatorNotFound when there is none.
    /// @param facilitatorId Identifier of the facilitator.
    /// @return The facilitator.
    function getFacilitator(uint256 facilitatorId) external view returns (Facilitator memory);

    /// @notice Reads a quote; reverts with QuoteNotFound when there is none.
    /// @param quoteHash Identity of the quote.
    /// @return The quote.
    function getQuote(bytes32 quoteHash) external view returns (Quote memory);

    /// @notice Reads a receipt; reverts with ReceiptNotFound when there is none.
    /// @param receiptId Identifier of the receipt.
    /// @return The receipt.
    function getReceipt(uint256 receiptId) external view returns (Receipt memory);

    /// @notice Reads a dispute; reverts with DisputeNotFound when there is none.
    /// @param disputeId Identifier of the dispute.
    /// @return The dispute.
    function getDispute(uint256 disputeId) external view returns (Dispute memory);

    /// @notice Reads a trust signal.
    /// @param signalId Identifier of the signal.
    /// @return The signal, all zero when there is none.
    function getTrustSignal(uint256 signalId) external view returns (TrustSignal memory);

    /// @notice Identity that a quote has in this registry on this chain.
    /// @param quote Terms of the quote.
    /// @return Its hash.
    function computeQuoteHash(QuoteCommitment calldata quote) external view returns (bytes32);

    /// @notice Identity that a quote has in this registry on this chain, from its single terms.
    /// @param merchantId Merchant that quotes.
    /// @param serviceNumericId Service that is quoted.
    /// @param agent Agent the quote is for.
    /// @param token Token to be paid in.
    /// @param facilitator Facilitator that settles, the zero address for none.
    /// @param amount Amount to be paid.
    /// @param paymentRail How it is paid.
    /// @param expiresAt Last second at which a receipt may be recorded.
    /// @param paymentNonce Number that tells equal quotes apart.
    /// @param resourceHash Commitment to what is bought.
    /// @param termsHash Commitment to the terms.
    /// @param x402PayloadHash Commitment to the x402 payload.
    /// @return Its hash.
    function computeQuoteHash(
        uint256 merchantId,
        uint256 serviceNumericId,
        address agent,
        address token,
        address facilitator,
        uint256 amount,
        PaymentRail paymentRail,
        uint256 expiresAt,
        uint256 paymentNonce,
        bytes32 resourceHash,
        bytes32 termsHash,
        bytes32 x402PayloadHash
    ) external view returns (bytes32);

    /// @notice Protocol fee rate in hundredths of a percent.
    /// @return The rate.
    function PROTOCOL_FEE_BPS() external view returns (uint16);
}
