// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Multicall} from "@openzeppelin/contracts/utils/Multicall.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IBatchSettlement} from "../../interfaces/IBatchSettlement.sol";
import {IDepositCollector} from "../../interfaces/IDepositCollector.sol";

/// @title Payment channels for local chains, with the interface, storage and rules of those that x402 has deployed.
/// @dev The code is placed without a constructor, so nothing is immutable: the domain is hashed in every call.
contract BatchSettlement is IBatchSettlement, IERC5267, Multicall, ReentrancyGuardTransient {
    using SafeCast for uint256;
    using SafeERC20 for IERC20;

    struct ChannelState {
        uint128 balance;
        uint128 totalClaimed;
    }

    struct WithdrawalState {
        uint128 amount;
        uint40 initiatedAt;
    }

    struct ReceiverState {
        uint128 totalClaimed;
        uint128 totalSettled;
    }

    /// @notice Shortest delay of a withdrawal.
    uint40 public constant MIN_WITHDRAW_DELAY = 15 minutes;

    /// @notice Longest delay of a withdrawal.
    uint40 public constant MAX_WITHDRAW_DELAY = 30 days;

    /// @notice Type hash of a channel.
    bytes32 public constant CHANNEL_CONFIG_TYPEHASH =
        keccak256(
            "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
        );

    /// @notice Type hash of a voucher.
    bytes32 public constant VOUCHER_TYPEHASH = keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)");

    /// @notice Type hash of a refund.
    bytes32 public constant REFUND_TYPEHASH = keccak256("Refund(bytes32 channelId,uint256 nonce,uint128 amount)");

    /// @notice Type hash of one row of a claim.
    bytes32 public constant CLAIM_ENTRY_TYPEHASH =
        keccak256("ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)");

    /// @notice Type hash of a claim.
    bytes32 public constant CLAIM_BATCH_TYPEHASH =
        keccak256(
            "ClaimBatch(ClaimEntry[] claims)ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)"
        );

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    string private constant NAME = "x402 Batch Settlement";
    string private constant VERSION = "1";

    // The deployed contract has two strings in these slots: readers of raw storage count from slot 2.
    bytes32[2] private _unused;

    /// @notice Balance (deposits less refunds and withdrawals) and total of the claims of a channel.
    mapping(bytes32 channelId => ChannelState) public channels;

    /// @notice Refunds of a channel so far.
    mapping(bytes32 channelId => uint256) public refundNonce;

    /// @notice Withdrawal that has started; zero if none.
    mapping(bytes32 channelId => WithdrawalState) public pendingWithdrawals;

    /// @notice What was claimed for a receiver, and how much of it was paid out.
    mapping(address receiver => mapping(address token => ReceiverState)) public receivers;

    /// @inheritdoc IBatchSettlement
    function deposit(
        ChannelConfig calldata config,
        uint128 amount,
        address collector,
        bytes calldata collectorData
    ) external nonReentrant {
        _requireUsable(config);
        if (amount == 0) revert ZeroDeposit();
        if (collector == address(0)) revert InvalidCollector();

        bytes32 channelId = getChannelId(config);
        ChannelState memory channel = channels[channelId];
        uint256 sum = uint256(channel.balance) + amount;
        if (sum > type(uint128).max) revert DepositOverflow();
        channels[channelId].balance = uint128(sum);

        uint256 due = IERC20(config.token).balanceOf(address(this)) + amount;
        IDepositCollector(collector).collect(config.payer, config.token, amount, channelId, collectorData);
        if (IERC20(config.token).balanceOf(address(this)) != due) revert DepositCollectionFailed();

        if (channel.balance == 0 && channel.totalClaimed == 0) emit ChannelCreated(channelId, config);
        emit Deposited(channelId, msg.sender, amount, uint128(sum));
    }

    /// @inheritdoc IBatchSettlement
    function claim(VoucherClaim[] calldata voucherClaims) external nonReentrant {
        if (voucherClaims.length == 0) revert EmptyBatch();
        for (uint256 i = 0; i < voucherClaims.length; i++) {
            if (!_isOnReceiversSide(voucherClaims[i].voucher.channel)) revert NotAuthorizedToClaim();
            _claim(voucherClaims[i]);
        }
    }

    /// @inheritdoc IBatchSettlement
    function claimWithSignature(
        VoucherClaim[] calldata voucherClaims,
        bytes calldata authorizerSignature
    ) external nonReentrant {
        if (voucherClaims.length == 0) revert EmptyBatch();
        address authorizer = voucherClaims[0].voucher.channel.receiverAuthorizer;
        _requireSignature(authorizer, getClaimBatchDigest(voucherClaims), authorizerSignature);
        for (uint256 i = 0; i < voucherClaims.length; i++) {
            if (voucherClaims[i].voucher.channel.receiverAuthorizer != authorizer) revert NotReceiverAuthorizer();
            _claim(voucherClaims[i]);
        }
    }

    /// @inheritdoc IBatchSettlement
    function settle(address receiver, address token) external nonReentrant {
        ReceiverState memory state = receivers[receiver][token];
        uint128 amount = state.totalClaimed - state.totalSettled;
        if (amount == 0) return;
        receivers[receiver][token].totalSettled = state.totalClaimed;
        IERC20(token).safeTransfer(receiver, amount);
        emit Settled(receiver, token, msg.sender, amount);
    }

    /// @inheritdoc IBatchSettlement
    function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external nonReentrant {
        if (!_isOnPayersSide(config)) revert InvalidChannel();
        if (amount == 0) revert NothingToWithdraw();
        bytes32 channelId = getChannelId(config);
        if (pendingWithdrawals[channelId].initiatedAt != 0) revert WithdrawalAlreadyPending();
        if (amount > _available(channelId)) revert WithdrawAmountExceedsAvailable();
        uint40 time = uint40(block.timestamp);
        pendingWithdrawals[channelId] = WithdrawalState({amount: amount, initiatedAt: time});
        emit WithdrawInitiated(channelId, amount, time + config.withdrawDelay);
    }

    /// @inheritdoc IBatchSettlement
    function finalizeWithdraw(ChannelConfig calldata config) external nonReentrant {
        if (!_isOnPayersSide(config)) revert NotAuthorizedToFinalizeWithdraw();
        bytes32 channelId = getChannelId(config);
        WithdrawalState memory pending = pendingWithdrawals[channelId];
        if (pending.initiatedAt == 0) revert WithdrawalNotPending();
        if (block.timestamp < uint256(pending.initiatedAt) + config.withdrawDelay) revert WithdrawDelayNotElapsed();
        uint128 amount = Math.min(pending.amount, _available(channelId)).toUint128();
        delete pendingWithdrawals[channelId];
        channels[channelId].balance -= amount;
        emit WithdrawFinalized(channelId, msg.sender, amount);
        _emitIfClosed(channelId, config);
        if (amount > 0) IERC20(config.token).safeTransfer(config.payer, amount);
    }

    /// @inheritdoc IBatchSettlement
    function refund(ChannelConfig calldata config, uint128 amount) external nonReentrant {
        if (!_isOnReceiversSide(config)) revert NotAuthorizedToRefund();
        _refund(getChannelId(config), config, amount);
    }

    /// @inheritdoc IBatchSettlement
    function refundWithSignature(
        ChannelConfig calldata config,
        uint128 amount,
        uint256 nonce,
        bytes calldata receiverAuthorizerSignature
    ) external nonReentrant {
        bytes32 channelId = getChannelId(config);
        if (nonce != refundNonce[channelId]) revert InvalidRefundNonce();
        bytes32 digest = getRefundDigest(channelId, nonce, amount);
        _requireSignature(config.receiverAuthorizer, digest, receiverAuthorizerSignature);
        _refund(channelId, config, amount);
    }

    /// @inheritdoc IERC5267
    function eip712Domain()
        external
        view
        returns (bytes1, string memory, string memory, uint256, address, bytes32, uint256[] memory)
    {
        // Name, version, chain and contract; no salt.
        return (0x0f, NAME, VERSION, block.chainid, address(this), bytes32(0), new uint256[](0));
    }

    /// @inheritdoc IBatchSettlement
    function getChannelId(ChannelConfig calldata config) public view returns (bytes32) {
        return _digest(keccak256(abi.encode(CHANNEL_CONFIG_TYPEHASH, config)));
    }

    /// @inheritdoc IBatchSettlement
    function getVoucherDigest(bytes32 channelId, uint128 maxClaimableAmount) public view returns (bytes32) {
        return _digest(keccak256(abi.encode(VOUCHER_TYPEHASH, channelId, maxClaimableAmount)));
    }

    /// @inheritdoc IBatchSettlement
    function getRefundDigest(bytes32 channelId, uint256 nonce, uint128 amount) public view returns (bytes32) {
        return _digest(keccak256(abi.encode(REFUND_TYPEHASH, channelId, nonce, amount)));
    }

    /// @inheritdoc IBatchSettlement
    function getClaimBatchDigest(VoucherClaim[] calldata voucherClaims) public view returns (bytes32) {
        bytes32[] memory entries = new bytes32[](voucherClaims.length);
        for (uint256 i = 0; i < entries.length; i++) {
            Voucher calldata voucher = voucherClaims[i].voucher;
            bytes32 channelId = getChannelId(voucher.channel);
            entries[i] = keccak256(
                abi.encode(
                    CLAIM_ENTRY_TYPEHASH,
                    channelId,
                    voucher.maxClaimableAmount,
                    voucherClaims[i].totalClaimed
                )
            );
        }
        return _digest(keccak256(abi.encode(CLAIM_BATCH_TYPEHASH, keccak256(abi.encodePacked(entries)))));
    }

    function _claim(VoucherClaim calldata row) private {
        ChannelConfig calldata config = row.voucher.channel;
        uint128 ceiling = row.voucher.maxClaimableAmount;
        uint128 total = row.totalClaimed;
        bytes32 channelId = getChannelId(config);
        ChannelState memory channel = channels[channelId];
        // Everything up to here is claimed: the same row again is harmless.
        if (total <= channel.totalClaimed) return;
        if (total > ceiling) revert ClaimExceedsCeiling();
        if (total > channel.balance) revert ClaimExceedsBalance();
        _requireVoucher(config, getVoucherDigest(channelId, ceiling), row.signature);

        uint128 added = total - channel.totalClaimed;
        channels[channelId].totalClaimed = total;
        receivers[config.receiver][config.token].totalClaimed += added;
        emit Claimed(channelId, msg.sender, added, total);
    }

    function _refund(bytes32 channelId, ChannelConfig calldata config, uint128 most) private {
        if (most == 0) revert ZeroRefund();
        // Even if nothing moves: a signed refund works once.
        refundNonce[channelId] += 1;
        uint128 amount = Math.min(most, _available(channelId)).toUint128();
        if (amount == 0) return;

        channels[channelId].balance -= amount;
        WithdrawalState storage pending = pendingWithdrawals[channelId];
        if (amount < pending.amount) pending.amount -= amount;
        else delete pendingWithdrawals[channelId];
        emit Refunded(channelId, msg.sender, amount);
        _emitIfClosed(channelId, config);
        IERC20(config.token).safeTransfer(config.payer, amount);
    }

    function _emitIfClosed(bytes32 channelId, ChannelConfig calldata config) private {
        ChannelState memory channel = channels[channelId];
        if (channel.balance == 0 && channel.totalClaimed == 0) emit ChannelClosed(channelId, config);
    }

    function _available(bytes32 channelId) private view returns (uint128) {
        ChannelState memory channel = channels[channelId];
        return channel.balance - channel.totalClaimed;
    }

    function _isOnReceiversSide(ChannelConfig calldata config) private view returns (bool) {
        return msg.sender == config.receiver || msg.sender == config.receiverAuthorizer;
    }

    function _isOnPayersSide(ChannelConfig calldata config) private view returns (bool) {
        return msg.sender == config.payer || msg.sender == config.payerAuthorizer;
    }

    // An authorizer is a key, so that a voucher can be checked without a node; a payer may be a contract.
    function _requireVoucher(ChannelConfig calldata config, bytes32 digest, bytes calldata signature) private view {
        address authorizer = config.payerAuthorizer;
        if (authorizer == address(0)) _requireSignature(config.payer, digest, signature);
        else if (ECDSA.recoverCalldata(digest, signature) != authorizer) revert InvalidSignature();
    }

    function _requireSignature(address account, bytes32 digest, bytes calldata signature) private view {
        if (!SignatureChecker.isValidSignatureNowCalldata(account, digest, signature)) revert InvalidSignature();
    }

    function _digest(bytes32 structHash) private view returns (bytes32) {
        bytes32 name = keccak256(bytes(NAME));
        bytes32 version = keccak256(bytes(VERSION));
        bytes32 domain = keccak256(abi.encode(DOMAIN_TYPEHASH, name, version, block.chainid, address(this)));
        return MessageHashUtils.toTypedDataHash(domain, structHash);
    }

    function _requireUsable(ChannelConfig calldata config) private pure {
        bool isComplete = config.payer != address(0) &&
            config.receiver != address(0) &&
            config.receiverAuthorizer != address(0) &&
            config.token != address(0);
        if (!isComplete) revert InvalidChannel();
        bool isInRange = config.withdrawDelay >= MIN_WITHDRAW_DELAY && config.withdrawDelay <= MAX_WITHDRAW_DELAY;
        if (!isInRange) revert WithdrawDelayOutOfRange();
    }
}
