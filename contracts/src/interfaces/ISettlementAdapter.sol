// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Pays all parties of a quote in one transaction.
/// @dev The adapter holds nothing: tokens go straight from the payer to each recipient, native value is passed on
/// whole. A token must deliver exactly what is sent: one that takes a fee, or charges the payer more, is refused.
interface ISettlementAdapter {
    /// @notice What a line pays for.
    enum LineKind {
        MERCHANT,
        SUPPLIER,
        TAX,
        TIP,
        SHIPPING,
        HANDLING,
        PLATFORM_FEE,
        FACILITATOR_FEE,
        PROTOCOL_FEE,
        ESCROW
    }

    /// @notice One payment of a settlement.
    /// @param kind What it pays for.
    /// @param recipient Who receives it; neither the zero address nor the adapter.
    /// @param token Token of the settlement.
    /// @param amount Amount, not zero.
    /// @param metadataHash Commitment to a description.
    struct SettlementLine {
        LineKind kind;
        address recipient;
        address token;
        uint256 amount;
        bytes32 metadataHash;
    }

    /// @notice A whole settlement.
    /// @param quoteHash Quote that is paid, not zero.
    /// @param settlementPlanHash Plan that is carried out, not zero.
    /// @param payer Account that pays; must be the caller.
    /// @param token Token to pay in, the zero address for the native coin.
    /// @param grossAmount Sum of all lines.
    /// @param deadline Last second at which the settlement may be executed.
    /// @param lines Payments, in order.
    struct SettlementInstruction {
        bytes32 quoteHash;
        bytes32 settlementPlanHash;
        address payer;
        address token;
        uint256 grossAmount;
        uint256 deadline;
        SettlementLine[] lines;
    }

    /// @notice A settlement was paid in full.
    /// @param quoteHash Quote that was paid.
    /// @param settlementPlanHash Plan that was carried out.
    /// @param payer Account that paid.
    /// @param token Token that was paid in, the zero address for the native coin.
    /// @param grossAmount Sum of all lines.
    /// @param executionHash Identity of the settlement.
    event SettlementExecuted(
        bytes32 indexed quoteHash,
        bytes32 indexed settlementPlanHash,
        address indexed payer,
        address token,
        uint256 grossAmount,
        bytes32 executionHash
    );

    /// @notice The quote hash is zero.
    error EmptyQuoteHash();

    /// @notice The plan hash is zero.
    error EmptySettlementPlanHash();

    /// @notice The deadline has passed.
    error DeadlineExpired();

    /// @notice The payer is not the caller.
    error PayerMismatch();

    /// @notice The settlement pays nobody.
    error NoSettlementLines();

    /// @notice A line pays the zero address or the adapter itself.
    error InvalidRecipient();

    /// @notice A line names another token than the settlement.
    error InvalidLineToken();

    /// @notice A line pays nothing.
    error InvalidLineAmount();

    /// @notice The native value sent is not the gross amount.
    error InvalidNativeValue();

    /// @notice Native value was sent with a token settlement.
    error InvalidERC20Value();

    /// @notice The lines do not add up to the gross amount.
    error LineTotalMismatch();

    /// @notice A recipient refused native value.
    error NativeTransferFailed();

    /// @notice The token moved another amount than it was told to.
    /// @param token Token that was paid in.
    /// @param holder Payer or recipient whose balance is wrong.
    /// @param expected Balance that the transfer had to leave.
    /// @param actual Balance that it left.
    error InexactTokenTransfer(address token, address holder, uint256 expected, uint256 actual);

    /// @notice Pays every line of a settlement, or nothing; payer only.
    /// @param instruction The settlement.
    /// @return executionHash Identity of the settlement.
    function executeSettlement(
        SettlementInstruction calldata instruction
    ) external payable returns (bytes32 executionHash);

    /// @notice Address that stands for the native coin.
    /// @return The zero address.
    function NATIVE_TOKEN() external view returns (address);
}
