// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {IAttestationRegistry} from "./interfaces/IAttestationRegistry.sol";
import {IIntentBook} from "./interfaces/IIntentBook.sol";

/// @title Book of signed intents, the bids solvers make on them, and the fills they report.
contract IntentBook is IIntentBook, EIP712 {
    // Slippage is in hundredths of a percent; more than the whole is meaningless.
    uint16 private constant SLIPPAGE_BPS_MAX = 10_000;

    bytes32 private constant CONSTRAINTS_TYPEHASH =
        keccak256("Constraints(uint256 amountInMax,uint256 amountOutMin,uint256 deadline,uint16 slippageBps)");

    bytes32 private constant EXECUTION_TYPEHASH =
        keccak256(
            "ExecutionRequirements(address target,bytes32 dataHash,bytes32 requiredAttestationSubject,bytes32 requiredAttestationSchema,bytes32 metadataURIHash)"
        );

    bytes32 private constant INTENT_TYPEHASH =
        keccak256(
            "Intent(address owner,uint8 intentType,Constraints constraints,ExecutionRequirements execution,address inputToken,address outputToken,uint256 nonce)Constraints(uint256 amountInMax,uint256 amountOutMin,uint256 deadline,uint16 slippageBps)ExecutionRequirements(address target,bytes32 dataHash,bytes32 requiredAttestationSubject,bytes32 requiredAttestationSchema,bytes32 metadataURIHash)"
        );

    /// @inheritdoc IIntentBook
    IAttestationRegistry public immutable attestationRegistry;

    uint256 private _lastIntentId;
    mapping(uint256 intentId => Intent) private _intents;
    mapping(uint256 intentId => IntentStatus) private _statuses;
    mapping(address owner => mapping(uint256 nonce => bool used)) private _usedNonces;
    mapping(uint256 intentId => uint256) private _lastBidId;
    mapping(uint256 intentId => uint256 bidId) private _selectedBidId;
    mapping(uint256 intentId => mapping(uint256 bidId => SolverBid)) private _bids;

    /// @param attestationRegistry_ Registry that required attestations are looked up in.
    constructor(IAttestationRegistry attestationRegistry_) EIP712("AgentIntentBook", "1") {
        if (address(attestationRegistry_).code.length == 0) {
            revert InvalidAttestationRegistry(address(attestationRegistry_));
        }
        attestationRegistry = attestationRegistry_;
    }

    /// @inheritdoc IIntentBook
    function submitIntent(
        Intent calldata intent,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external returns (uint256 intentId) {
        if (intent.constraints.slippageBps > SLIPPAGE_BPS_MAX) revert InvalidSlippage();
        if (intent.constraints.deadline <= block.timestamp) revert InvalidDeadline();
        if (_usedNonces[intent.owner][intent.nonce]) revert InvalidNonce();
        (address signer, ECDSA.RecoverError failure, ) = ECDSA.tryRecover(_digest(intent), v, r, s);
        if (failure != ECDSA.RecoverError.NoError || signer != intent.owner) revert InvalidSignature();

        _usedNonces[intent.owner][intent.nonce] = true;
        intentId = ++_lastIntentId;
        _intents[intentId] = intent;
        emit IntentSubmitted(intentId, intent.owner, intent.nonce);
    }

    /// @inheritdoc IIntentBook
    function cancelIntent(uint256 intentId) external {
        if (_intents[intentId].owner != msg.sender) revert Unauthorized();
        _requireOpen(intentId);
        _statuses[intentId] = IntentStatus.CANCELLED;
        emit IntentCancelled(intentId);
    }

    /// @inheritdoc IIntentBook
    function submitBid(
        uint256 intentId,
        uint256 amountIn,
        uint256 amountOut,
        uint256 fee,
        uint256 validUntil,
        bytes32 executionHash
    ) external returns (uint256 bidId) {
        _requireOpen(intentId);
        Constraints storage bounds = _intents[intentId].constraints;
        if (block.timestamp >= bounds.deadline) revert IntentExpired();
        if (validUntil <= block.timestamp || validUntil > bounds.deadline) revert InvalidBid();
        if (amountIn > bounds.amountInMax || amountOut < bounds.amountOutMin) revert ConstraintViolation();

        bidId = ++_lastBidId[intentId];
        _bids[intentId][bidId] = SolverBid({
            solver: msg.sender,
            amountIn: amountIn,
            amountOut: amountOut,
            fee: fee,
            validUntil: validUntil,
            executionHash: executionHash,
            selected: false,
            exists: true
        });
        emit SolverBidSubmitted(intentId, bidId, msg.sender, amountIn, amountOut, fee, validUntil, executionHash);
    }

    /// @inheritdoc IIntentBook
    function selectBid(uint256 intentId, uint256 bidId) external {
        if (_intents[intentId].owner != msg.sender) revert Unauthorized();
        _requireOpen(intentId);
        SolverBid storage bid = _existingBid(intentId, bidId);
        if (block.timestamp > bid.validUntil) revert BidExpired();

        uint256 formerBidId = _selectedBidId[intentId];
        if (formerBidId != 0) _bids[intentId][formerBidId].selected = false;
        bid.selected = true;
        _selectedBidId[intentId] = bidId;
        emit SolverBidSelected(intentId, bidId, bid.solver);
    }

    /// @inheritdoc IIntentBook
    function fillIntent(uint256 intentId, Fill calldata fill) external {
        _requireOpen(intentId);
        Intent storage intent = _intents[intentId];
        if (block.timestamp >= intent.constraints.deadline) revert IntentExpired();
        uint256 bidId = _selectedBidId[intentId];
        if (bidId == 0) revert SelectedBidRequired();
        SolverBid storage bid = _bids[intentId][bidId];
        if (bid.solver != msg.sender) revert Unauthorized();
        if (fill.solver != bid.solver) revert BidNotSelected();
        if (fill.amountIn != bid.amountIn || fill.amountOut != bid.amountOut) revert ConstraintViolation();
        bytes32 dataHash = intent.execution.dataHash;
        if (dataHash != bytes32(0) && bid.executionHash != dataHash) revert ExecutionCommitmentMismatch();
        _requireAttestation(intent.execution, fill.attestationId);

        _statuses[intentId] = IntentStatus.FILLED;
        emit IntentFilled(intentId, msg.sender, fill.amountIn, fill.amountOut);
        emit IntentFillProof(intentId, fill.resultHash, fill.traceHash, fill.attestationId);
    }

    /// @inheritdoc IIntentBook
    function getIntent(uint256 intentId) external view returns (Intent memory) {
        return _intents[intentId];
    }

    /// @inheritdoc IIntentBook
    function getIntentStatus(uint256 intentId) external view returns (IntentStatus) {
        return _statuses[intentId];
    }

    /// @inheritdoc IIntentBook
    function getBid(uint256 intentId, uint256 bidId) external view returns (SolverBid memory) {
        return _existingBid(intentId, bidId);
    }

    /// @inheritdoc IIntentBook
    function getSelectedBid(uint256 intentId) external view returns (uint256) {
        return _selectedBidId[intentId];
    }

    // OPEN is the zero value, so an intent that was never submitted must be told apart by its owner.
    function _requireOpen(uint256 intentId) private view {
        if (_intents[intentId].owner == address(0) || _statuses[intentId] != IntentStatus.OPEN) {
            revert IntentNotOpen();
        }
    }

    function _existingBid(uint256 intentId, uint256 bidId) private view returns (SolverBid storage bid) {
        bid = _bids[intentId][bidId];
        if (!bid.exists) revert BidNotFound();
    }

    function _requireAttestation(ExecutionRequirements storage execution, uint256 attestationId) private view {
        bytes32 subject = execution.requiredAttestationSubject;
        bytes32 schema = execution.requiredAttestationSchema;
        if (subject == bytes32(0) && schema == bytes32(0)) return;
        try attestationRegistry.getAttestation(attestationId) returns (
            IAttestationRegistry.Attestation memory attestation
        ) {
            if (attestation.revoked) revert RequiredAttestationMissing();
            if (subject != bytes32(0) && attestation.subject != subject) revert RequiredAttestationMissing();
            if (schema != bytes32(0) && attestation.schema != schema) revert RequiredAttestationMissing();
        } catch {
            revert RequiredAttestationMissing();
        }
    }

    function _digest(Intent calldata intent) private view returns (bytes32) {
        return
            _hashTypedDataV4(
                keccak256(
                    abi.encode(
                        INTENT_TYPEHASH,
                        intent.owner,
                        intent.intentType,
                        keccak256(abi.encode(CONSTRAINTS_TYPEHASH, intent.constraints)),
                        keccak256(abi.encode(EXECUTION_TYPEHASH, intent.execution)),
                        intent.inputToken,
                        intent.outputToken,
                        intent.nonce
                    )
                )
            );
    }
}
