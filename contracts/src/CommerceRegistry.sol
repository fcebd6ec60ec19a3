// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ICommerceRegistry} from "./interfaces/ICommerceRegistry.sol";
import {QuoteHash} from "./QuoteHash.sol";

/// @title Registry of commerce between agents and merchants: who sells what, quotes, receipts, disputes, signals.
contract CommerceRegistry is ICommerceRegistry {
    /// @inheritdoc ICommerceRegistry
    uint16 public constant PROTOCOL_FEE_BPS = 0;

    uint256 private _lastMerchantId;
    uint256 private _lastServiceId;
    uint256 private _lastFacilitatorId;
    uint256 private _lastReceiptId;
    uint256 private _lastDisputeId;
    uint256 private _lastSignalId;
    mapping(uint256 merchantId => Merchant) private _merchants;
    mapping(uint256 serviceNumericId => Service) private _services;
    mapping(uint256 merchantId => mapping(bytes32 serviceIdHash => bool)) private _serviceIdTaken;
    mapping(uint256 facilitatorId => Facilitator) private _facilitators;
    mapping(address facilitator => uint256 facilitatorId) private _facilitatorIdOf;
    mapping(bytes32 quoteHash => Quote) private _quotes;
    mapping(uint256 receiptId => Receipt) private _receipts;
    mapping(uint256 disputeId => Dispute) private _disputes;
    mapping(uint256 signalId => TrustSignal) private _signals;

    /// @inheritdoc ICommerceRegistry
    function registerMerchant(
        address payoutAddress,
        string calldata metadataURI,
        bytes32 metadataHash
    ) external returns (uint256 merchantId) {
        merchantId = ++_lastMerchantId;
        _merchants[merchantId] = Merchant({
            owner: msg.sender,
            payoutAddress: payoutAddress,
            metadataURI: metadataURI,
            metadataHash: metadataHash,
            active: true
        });
        emit MerchantRegistered(merchantId, msg.sender, payoutAddress, metadataURI, metadataHash);
    }

    /// @inheritdoc ICommerceRegistry
    function updateMerchant(
        uint256 merchantId,
        address payoutAddress,
        string calldata metadataURI,
        bytes32 metadataHash,
        bool active
    ) external {
        Merchant storage merchant = _ownedMerchant(merchantId);
        merchant.payoutAddress = payoutAddress;
        merchant.metadataURI = metadataURI;
        merchant.metadataHash = metadataHash;
        merchant.active = active;
        emit MerchantUpdated(merchantId, payoutAddress, metadataURI, metadataHash, active);
    }

    /// @inheritdoc ICommerceRegistry
    function registerService(
        uint256 merchantId,
        string calldata serviceId,
        string calldata metadataURI,
        bytes32 metadataHash,
        bytes32 capabilityHash
    ) external returns (uint256 serviceNumericId) {
        _ownedMerchant(merchantId);
        bytes32 serviceIdHash = keccak256(bytes(serviceId));
        if (_serviceIdTaken[merchantId][serviceIdHash]) revert ServiceIdTaken(merchantId, serviceId);
        _serviceIdTaken[merchantId][serviceIdHash] = true;
        serviceNumericId = ++_lastServiceId;
        _services[serviceNumericId] = Service({
            merchantId: merchantId,
            serviceId: serviceId,
            metadataURI: metadataURI,
            metadataHash: metadataHash,
            capabilityHash: capabilityHash,
            active: true
        });
        emit ServiceRegistered(serviceNumericId, merchantId, serviceId, metadataURI, metadataHash, capabilityHash);
    }

    /// @inheritdoc ICommerceRegistry
    function updateService(
        uint256 serviceNumericId,
        string calldata metadataURI,
        bytes32 metadataHash,
        bytes32 capabilityHash,
        bool active
    ) external {
        Service storage service = _existingService(serviceNumericId);
        _ownedMerchant(service.merchantId);
        service.metadataURI = metadataURI;
        service.metadataHash = metadataHash;
        service.capabilityHash = capabilityHash;
        service.active = active;
        emit ServiceUpdated(serviceNumericId, metadataURI, metadataHash, capabilityHash, active);
    }

    /// @inheritdoc ICommerceRegistry
    function registerFacilitator(
        address facilitator,
        string calldata metadataURI,
        bytes32 metadataHash
    ) external returns (uint256 facilitatorId) {
        if (facilitator == address(0)) revert InvalidFacilitator(facilitator);
        facilitatorId = _facilitatorIdOf[facilitator];
        if (facilitatorId == 0) {
            facilitatorId = ++_lastFacilitatorId;
            _facilitatorIdOf[facilitator] = facilitatorId;
        } else if (msg.sender != facilitator) {
            revert FacilitatorAlreadyRegistered(facilitator, facilitatorId);
        }
        _facilitators[facilitatorId] = Facilitator({
            facilitator: facilitator,
            metadataURI: metadataURI,
            metadataHash: metadataHash,
            active: true
        });
        emit FacilitatorRegistered(facilitatorId, facilitator, metadataURI, metadataHash);
    }

    /// @inheritdoc ICommerceRegistry
    function updateFacilitator(
        uint256 facilitatorId,
        string calldata metadataURI,
        bytes32 metadataHash,
        bool active
    ) external {
        Facilitator storage record = _existingFacilitator(facilitatorId);
        if (record.facilitator != msg.sender) revert Unauthorized();
        record.metadataURI = metadataURI;
        record.metadataHash = metadataHash;
        record.active = active;
        emit FacilitatorUpdated(facilitatorId, msg.sender, metadataURI, metadataHash, active);
    }

    /// @inheritdoc ICommerceRegistry
    function commitQuote(QuoteCommitment calldata quote) external returns (bytes32 quoteHash) {
        _ownedMerchant(quote.merchantId);
        if (_existingService(quote.serviceNumericId).merchantId != quote.merchantId) revert ServiceNotFound();
        if (quote.facilitator != address(0) || _needsFacilitator(quote.paymentRail)) {
            if (!_existingFacilitator(_facilitatorIdOf[quote.facilitator]).active) revert FacilitatorInactive();
        }
        quoteHash = QuoteHash.hashOf(quote, PROTOCOL_FEE_BPS);
        if (_quotes[quoteHash].merchantId != 0) revert QuoteAlreadyCommitted(quoteHash);

        Quote memory committed = Quote({
            merchantId: quote.merchantId,
            serviceNumericId: quote.serviceNumericId,
            agent: quote.agent,
            token: quote.token,
            facilitator: quote.facilitator,
            amount: quote.amount,
            paymentRail: quote.paymentRail,
            protocolFeeBps: PROTOCOL_FEE_BPS,
            protocolFeeAmount: QuoteHash.feeOn(quote.amount, PROTOCOL_FEE_BPS),
            expiresAt: quote.expiresAt,
            paymentNonce: quote.paymentNonce,
            resourceHash: quote.resourceHash,
            termsHash: quote.termsHash,
            x402PayloadHash: quote.x402PayloadHash,
            settled: false
        });
        _quotes[quoteHash] = committed;
        _emitQuoteCommitted(quoteHash, committed);
    }

    /// @inheritdoc ICommerceRegistry
    function recordReceipt(bytes32 quoteHash, bytes32 resultHash) external returns (uint256 receiptId) {
        Quote storage quote = _existingQuote(quoteHash);
        bool permitted = _needsFacilitator(quote.paymentRail)
            ? msg.sender == quote.facilitator
            : msg.sender == quote.agent || msg.sender == _merchants[quote.merchantId].owner;
        if (!permitted) revert Unauthorized();
        if (quote.settled) revert QuoteAlreadySettled();
        if (block.timestamp > quote.expiresAt) revert QuoteExpired();

        quote.settled = true;
        receiptId = ++_lastReceiptId;
        Receipt memory receipt = Receipt({
            quoteHash: quoteHash,
            agent: quote.agent,
            merchantId: quote.merchantId,
            serviceNumericId: quote.serviceNumericId,
            token: quote.token,
            amount: quote.amount,
            paymentRail: quote.paymentRail,
            protocolFeeBps: quote.protocolFeeBps,
            protocolFeeAmount: quote.protocolFeeAmount,
            facilitator: quote.facilitator,
            resultHash: resultHash,
            resourceHash: quote.resourceHash,
            fulfillmentHash: bytes32(0)
        });
        _receipts[receiptId] = receipt;
        _emitReceiptRecorded(receiptId, receipt);
    }

    /// @inheritdoc ICommerceRegistry
    function recordFulfillment(uint256 receiptId, bytes32 fulfillmentHash) external {
        Receipt storage receipt = _existingReceipt(receiptId);
        if (!_isSeller(receipt)) revert Unauthorized();
        receipt.fulfillmentHash = fulfillmentHash;
        emit FulfillmentRecorded(receiptId, fulfillmentHash);
    }

    /// @inheritdoc ICommerceRegistry
    function openDispute(uint256 receiptId, bytes32 reasonHash) external returns (uint256 disputeId) {
        Receipt storage receipt = _existingReceipt(receiptId);
        if (msg.sender != receipt.agent && !_isSeller(receipt)) revert Unauthorized();
        disputeId = ++_lastDisputeId;
        _disputes[disputeId] = Dispute({
            receiptId: receiptId,
            opener: msg.sender,
            reasonHash: reasonHash,
            status: DisputeStatus.OPEN,
            resolutionHash: bytes32(0)
        });
        emit DisputeOpened(disputeId, receiptId, msg.sender, reasonHash);
    }

    /// @inheritdoc ICommerceRegistry
    function resolveDispute(uint256 disputeId, DisputeStatus status, bytes32 resolutionHash) external {
        Dispute storage dispute = _existingDispute(disputeId);
        if (!_isSeller(_receipts[dispute.receiptId])) revert Unauthorized();
        if (status == DisputeStatus.OPEN) revert InvalidDisputeStatus(status);
        if (dispute.status != DisputeStatus.OPEN) revert DisputeAlreadyResolved(disputeId);
        dispute.status = status;
        dispute.resolutionHash = resolutionHash;
        emit DisputeResolved(disputeId, status, resolutionHash);
    }

    /// @inheritdoc ICommerceRegistry
    function recordTrustSignal(
        SignalSubject subjectType,
        uint256 subjectId,
        SignalKind kind,
        bytes32 signalHash
    ) external returns (uint256 signalId) {
        signalId = ++_lastSignalId;
        _signals[signalId] = TrustSignal({
            subjectType: subjectType,
            subjectId: subjectId,
            kind: kind,
            reporter: msg.sender,
            signalHash: signalHash
        });
        emit TrustSignalRecorded(signalId, subjectType, subjectId, kind, msg.sender, signalHash);
    }

    /// @inheritdoc ICommerceRegistry
    function getMerchant(uint256 merchantId) external view returns (Merchant memory) {
        return _existingMerchant(merchantId);
    }

    /// @inheritdoc ICommerceRegistry
    function getService(uint256 serviceNumericId) external view returns (Service memory) {
        return _existingService(serviceNumericId);
    }

    /// @inheritdoc ICommerceRegistry
    function getFacilitator(uint256 facilitatorId) external view returns (Facilitator memory) {
        return _existingFacilitator(facilitatorId);
    }

    /// @inheritdoc ICommerceRegistry
    function getQuote(bytes32 quoteHash) external view returns (Quote memory) {
        return _existingQuote(quoteHash);
    }

    /// @inheritdoc ICommerceRegistry
    function getReceipt(uint256 receiptId) external view returns (Receipt memory) {
        return _existingReceipt(receiptId);
    }

    /// @inheritdoc ICommerceRegistry
    function getDispute(uint256 disputeId) external view returns (Dispute memory) {
        return _existingDispute(disputeId);
    }

    /// @inheritdoc ICommerceRegistry
    function getTrustSignal(uint256 signalId) external view returns (TrustSignal memory) {
        return _signals[signalId];
    }

    /// @inheritdoc ICommerceRegistry
    function computeQuoteHash(QuoteCommitment calldata quote) external view returns (bytes32) {
        return QuoteHash.hashOf(quote, PROTOCOL_FEE_BPS);
    }

    /// @inheritdoc ICommerceRegistry
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
    ) external view returns (bytes32) {
        return
            QuoteHash.hashOf(
                QuoteCommitment(
                    merchantId,
                    serviceNumericId,
                    agent,
                    token,
                    facilitator,
                    amount,
                    paymentRail,
                    expiresAt,
                    paymentNonce,
                    resourceHash,
                    termsHash,
                    x402PayloadHash
                ),
                PROTOCOL_FEE_BPS
            );
    }

    function _emitQuoteCommitted(bytes32 quoteHash, Quote memory quote) private {
        emit QuoteCommitted(
            quoteHash,
            quote.merchantId,
            quote.serviceNumericId,
            quote.agent,
            quote.token,
            quote.facilitator,
            quote.amount,
            quote.paymentRail,
            quote.protocolFeeBps,
            quote.protocolFeeAmount,
            quote.expiresAt,
            quote.paymentNonce,
            quote.resourceHash,
            quote.termsHash,
            quote.x402PayloadHash
        );
    }

    function _emitReceiptRecorded(uint256 receiptId, Receipt memory receipt) private {
        emit ReceiptRecorded(
            receiptId,
            receipt.quoteHash,
            receipt.agent,
            receipt.merchantId,
            receipt.serviceNumericId,
            receipt.token,
            receipt.amount,
            receipt.paymentRail,
            receipt.protocolFeeBps,
            receipt.protocolFeeAmount,
            receipt.facilitator,
            receipt.resultHash,
            receipt.resourceHash,
            receipt.fulfillmentHash
        );
    }

    function _existingMerchant(uint256 merchantId) private view returns (Merchant storage merchant) {
        merchant = _merchants[merchantId];
        if (merchant.owner == address(0)) revert MerchantNotFound();
    }

    function _ownedMerchant(uint256 merchantId) private view returns (Merchant storage merchant) {
        merchant = _existingMerchant(merchantId);
        if (merchant.owner != msg.sender) revert Unauthorized();
    }

    function _existingService(uint256 serviceNumericId) private view returns (Service storage service) {
        service = _services[serviceNumericId];
        if (service.merchantId == 0) revert ServiceNotFound();
    }

    function _existingFacilitator(uint256 facilitatorId) private view returns (Facilitator storage record) {
        record = _facilitators[facilitatorId];
        if (record.facilitator == address(0)) revert FacilitatorNotFound();
    }

    function _existingQuote(bytes32 quoteHash) private view returns (Quote storage quote) {
        quote = _quotes[quoteHash];
        if (quote.merchantId == 0) revert QuoteNotFound();
    }

    function _existingReceipt(uint256 receiptId) private view returns (Receipt storage receipt) {
        receipt = _receipts[receiptId];
        if (receipt.merchantId == 0) revert ReceiptNotFound();
    }

    function _existingDispute(uint256 disputeId) private view returns (Dispute storage dispute) {
        dispute = _disputes[disputeId];
        if (dispute.receiptId == 0) revert DisputeNotFound();
    }

    // No facilitator is stored as the zero address, which is never a caller.
    function _isSeller(Receipt storage receipt) private view returns (bool) {
        return msg.sender == receipt.facilitator || msg.sender == _merchants[receipt.merchantId].owner;
    }

    function _needsFacilitator(PaymentRail rail) private pure returns (bool) {
        return rail == PaymentRail.FACILITATOR || rail == PaymentRail.X402;
    }
}
