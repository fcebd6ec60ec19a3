// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Payment channels of the x402 scheme batch-settlement: one deposit, then a signed voucher per purchase.
/// @dev A voucher names all that a receiver may ever claim from a channel, so that only the latest one counts. What is
/// claimed belongs to the receiver; the payer may take the rest back. Vouchers that are not claimed reserve nothing.
interface IBatchSettlement {
    /// @notice What a channel is, for ever; its EIP-712 digest is the id of the channel.
    /// @param payer Account that deposits and gets the rest back.
    /// @param payerAuthorizer Key that signs vouchers; if zero, the payer signs, who may be a contract.
    /// @param receiver Account that is paid.
    /// @param receiverAuthorizer Account that signs claims and refunds for the receiver; may be a contract.
    /// @param token Token of the channel.
    /// @param withdrawDelay Seconds between the start of a withdrawal and its end.
    /// @param salt Any 32 bytes, to tell channels of the same parties apart.
    struct ChannelConfig {
        address payer;
        address payerAuthorizer;
        address receiver;
        address receiverAuthorizer;
        address token;
        uint40 withdrawDelay;
        bytes32 salt;
    }

    /// @notice What the payer's side signs.
    /// @param channel Channel concerned.
    /// @param maxClaimableAmount Most that may be claimed in total.
    struct Voucher {
        ChannelConfig channel;
        uint128 maxClaimableAmount;
    }

    /// @notice A voucher, and how much of it is claimed.
    /// @param voucher Voucher of the payer's side.
    /// @param signature Signature of the voucher.
    /// @param totalClaimed Total after the claim; not above the voucher.
    struct VoucherClaim {
        Voucher voucher;
        bytes signature;
        uint128 totalClaimed;
    }

    /// @notice A channel received its first deposit, or its first after it was emptied without any claim.
    /// @param channelId Channel concerned.
    /// @param config What the channel is.
    event ChannelCreated(bytes32 indexed channelId, ChannelConfig config);

    /// @notice A channel was emptied and nothing was ever claimed from it.
    /// @param channelId Channel concerned.
    /// @param config What the channel is.
    event ChannelClosed(bytes32 indexed channelId, ChannelConfig config);

    /// @notice A channel received a deposit.
    /// @param channelId Channel concerned.
    /// @param sender Account that sent the transaction.
    /// @param amount Amount of the deposit.
    /// @param newBalance Balance of the channel afterwards.
    event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance);

    /// @notice The receiver's side claimed.
    /// @param channelId Channel concerned.
    /// @param sender Account that sent the transaction.
    /// @param claimAmount What this claim added.
    /// @param newTotalClaimed Total of all claims.
    event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed);

    /// @notice Claimed tokens were paid out.
    /// @param receiver Account that was paid.
    /// @param token Token that was paid.
    /// @param sender Account that sent the transaction.
    /// @param amount Amount.
    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);

    /// @notice The receiver's side returned tokens to the payer.
    /// @param channelId Channel concerned.
    /// @param sender Account that sent the transaction.
    /// @param amount Amount.
    event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount);

    /// @notice The payer's side started a withdrawal.
    /// @param channelId Channel concerned.
    /// @param amount Amount asked for.
    /// @param finalizeAfter First second at which the withdrawal may end.
    event WithdrawInitiated(bytes32 indexed channelId, uint128 amount, uint40 finalizeAfter);

    /// @notice The payer's side ended a withdrawal.
    /// @param channelId Channel concerned.
    /// @param sender Account that sent the transaction.
    /// @param amount Amount returned; zero if everything was claimed meanwhile.
    event WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount);

    /// @notice An address of the channel is zero, or the caller may not start a withdrawal.
    error InvalidChannel();
    /// @notice A deposit of nothing.
    error ZeroDeposit();
    /// @notice The balance would not fit into 128 bits.
    error DepositOverflow();
    /// @notice The signature is not of the account that had to sign.
    error InvalidSignature();
    /// @notice The rows of a signed batch have different receiver authorizers.
    error NotReceiverAuthorizer();
    /// @notice The caller is not on the receiver's side.
    error NotAuthorizedToClaim();
    /// @notice The caller is not on the receiver's side.
    error NotAuthorizedToRefund();
    /// @notice The claim is above its voucher.
    error ClaimExceedsCeiling();
    /// @notice The claim is above the balance.
    error ClaimExceedsBalance();
    /// @notice A withdrawal has started already.
    error WithdrawalAlreadyPending();
    /// @notice No withdrawal has started.
    error WithdrawalNotPending();
    /// @notice The caller is not on the payer's side.
    error NotAuthorizedToFinalizeWithdraw();
    /// @notice The withdrawal may not end yet.
    error WithdrawDelayNotElapsed();
    /// @notice A withdrawal of nothing.
    error NothingToWithdraw();
    /// @notice The withdrawal is above what is not claimed.
    error WithdrawAmountExceedsAvailable();
    /// @notice The delay is shorter than 15 minutes or longer than 30 days.
    error WithdrawDelayOutOfRange();
    /// @notice A claim without rows.
    error EmptyBatch();
    /// @notice The collector did not deliver exactly the deposit.
    error DepositCollectionFailed();
    /// @notice The collector is the zero address.
    error InvalidCollector();
    /// @notice The refund is signed for another nonce.
    error InvalidRefundNonce();
    /// @notice A refund of nothing.
    error ZeroRefund();

    /// @notice Deposits into a channel; anyone may relay it.
    /// @param config Channel concerned.
    /// @param amount Amount, not zero.
    /// @param collector Contract that moves the tokens.
    /// @param collectorData Permission of the payer, for the collector.
    function deposit(
        ChannelConfig calldata config,
        uint128 amount,
        address collector,
        bytes calldata collectorData
    ) external;

    /// @notice Claims vouchers; receiver or receiver authorizer of every row only.
    /// @param voucherClaims Rows; one that raises no total changes nothing, one that is wrong reverts all.
    function claim(VoucherClaim[] calldata voucherClaims) external;

    /// @notice Claims vouchers by a signature of the receiver authorizer; anyone may relay it.
    /// @param voucherClaims Rows, all with the same receiver authorizer.
    /// @param authorizerSignature Its signature of the batch.
    function claimWithSignature(VoucherClaim[] calldata voucherClaims, bytes calldata authorizerSignature) external;

    /// @notice Pays out what was claimed for a receiver; anyone may call. Does nothing if nothing is due.
    /// @param receiver Account to pay.
    /// @param token Token to pay.
    function settle(address receiver, address token) external;

    /// @notice Starts a withdrawal; payer or payer authorizer only.
    /// @param config Channel concerned.
    /// @param amount Amount, at most what is not claimed.
    function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external;

    /// @notice Ends a withdrawal after its delay and pays what is still not claimed; payer or payer authorizer only.
    /// @param config Channel concerned.
    function finalizeWithdraw(ChannelConfig calldata config) external;

    /// @notice Returns what is not claimed to the payer at once; receiver or receiver authorizer only.
    /// @param config Channel concerned.
    /// @param amount Most to return, not zero.
    function refund(ChannelConfig calldata config, uint128 amount) external;

    /// @notice Returns what is not claimed by a signature of the receiver authorizer; anyone may relay it.
    /// @param config Channel concerned.
    /// @param amount Most to return, not zero.
    /// @param nonce Refunds of the channel so far.
    /// @param receiverAuthorizerSignature Signature of the refund.
    function refundWithSignature(
        ChannelConfig calldata config,
        uint128 amount,
        uint256 nonce,
        bytes calldata receiverAuthorizerSignature
    ) external;

    /// @notice Id of a channel.
    /// @param config What the channel is.
    /// @return EIP-712 digest of the configuration.
    function getChannelId(ChannelConfig calldata config) external view returns (bytes32);

    /// @notice What the payer's side signs for a voucher.
    /// @param channelId Channel concerned.
    /// @param maxClaimableAmount Most that may be claimed in total.
    /// @return EIP-712 digest.
    function getVoucherDigest(bytes32 channelId, uint128 maxClaimableAmount) external view returns (bytes32);

    /// @notice What the receiver authorizer signs for a refund.
    /// @param channelId Channel concerned.
    /// @param nonce Refunds of the channel so far.
    /// @param amount Most to return.
    /// @return EIP-712 digest.
    function getRefundDigest(bytes32 channelId, uint256 nonce, uint128 amount) external view returns (bytes32);

    /// @notice What the receiver authorizer signs for a claim.
    /// @param voucherClaims Rows.
    /// @return EIP-712 digest.
    function getClaimBatchDigest(VoucherClaim[] calldata voucherClaims) external view returns (bytes32);
}
