// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Rules an account sets for itself: what it may call, and how much it may spend in a day.
/// @dev Every account rules over its own entries only: the account is always the caller. The one exception is the
/// freeze switch, which the account's guardian may also use.
///
/// A spend window lasts 86400 seconds and starts with the first spend recorded after the former window ended. Within
/// one window the recorded total never exceeds the limit in force. Changing a limit neither ends the window nor
/// forgets what was recorded in it; spends made while the limit is 0 (none) are not recorded.
interface IPolicyModule {
    /// @notice Spend limit of one token; the zero address stands for the native coin.
    /// @param maxPerDay Most that may be spent in one window; 0 means no limit and no record.
    /// @param spentToday Total recorded in the window that began at lastResetTimestamp, which may be over.
    /// @param lastResetTimestamp Start of the last window.
    struct SpendLimit {
        uint256 maxPerDay;
        uint256 spentToday;
        uint48 lastResetTimestamp;
    }

    /// @notice Rule for signed payments to one merchant in one token through one facilitator.
    /// @param maxPerPayment Most that one payment may be; 0 means no limit.
    /// @param maxPerDay Most that may be paid in one window; 0 means no limit.
    /// @param spentToday Total recorded in the current window.
    /// @param lastResetTimestamp Start of the last window.
    /// @param allowed Whether payments are allowed at all.
    struct PaymentPolicy {
        uint256 maxPerPayment;
        uint256 maxPerDay;
        uint256 spentToday;
        uint48 lastResetTimestamp;
        bool allowed;
    }

    /// @notice An account set its spend limit of a token.
    /// @param account Account the limit binds.
    /// @param token Token, the zero address for the native coin.
    /// @param maxPerDay New limit, 0 for none.
    event SpendLimitSet(address indexed account, address indexed token, uint256 maxPerDay);

    /// @notice An account allowed or forbade calls to a target.
    /// @param account Account the rule binds.
    /// @param target Contract or account that may be called.
    /// @param allowed Whether it may.
    event TargetAllowlistUpdated(address indexed account, address indexed target, bool allowed);

    /// @notice An account allowed or forbade one function of a target.
    /// @param account Account the rule binds.
    /// @param target Contract that may be called.
    /// @param selector Function that may be called.
    /// @param allowed Whether it may.
    event FunctionAllowlistUpdated(address indexed account, address indexed target, bytes4 selector, bool allowed);

    /// @notice An account switched its function allowlist on or off.
    /// @param account Account the rule binds.
    /// @param enabled Whether functions must be allowed one by one.
    event FunctionAllowlistModeUpdated(address indexed account, bool enabled);

    /// @notice A spend was recorded against a limit.
    /// @param account Account that spent.
    /// @param token Token, the zero address for the native coin.
    /// @param amount Amount of this spend.
    /// @param dailyTotal Total of the window with this spend.
    event SpendRecorded(address indexed account, address indexed token, uint256 amount, uint256 dailyTotal);

    /// @notice An account set its rule for signed payments.
    /// @param account Account the rule binds.
    /// @param merchant Merchant that is paid.
    /// @param token Token that is paid in.
    /// @param facilitator Facilitator that settles.
    /// @param maxPerPayment Most that one payment may be, 0 for no limit.
    /// @param maxPerDay Most that may be paid in one window, 0 for no limit.
    /// @param allowed Whether payments are allowed at all.
    event PaymentPolicySet(
        address indexed account,
        address indexed merchant,
        address indexed token,
        address facilitator,
        uint256 maxPerPayment,
        uint256 maxPerDay,
        bool allowed
    );

    /// @notice A signed payment was recorded.
    /// @param account Account that paid.
    /// @param merchant Merchant that is paid.
    /// @param token Token that is paid in.
    /// @param facilitator Facilitator that settles.
    /// @param amount Amount of this payment.
    /// @param paymentHash Identity of the payment, used once per account.
    /// @param dailyTotal Total of the window with this payment.
    event SignedPaymentRecorded(
        address indexed account,
        address indexed merchant,
        address indexed token,
        address facilitator,
        uint256 amount,
        bytes32 paymentHash,
        uint256 dailyTotal
    );

    /// @notice An account named its guardian.
    /// @param account Account that is guarded.
    /// @param guardian New guardian, the zero address for none.
    event GuardianSet(address indexed account, address indexed guardian);

    /// @notice An account was frozen or released.
    /// @param account Account concerned.
    /// @param frozen Whether it is frozen now.
    event AccountFrozen(address indexed account, bool frozen);

    /// @notice The caller is neither the account nor its guardian.
    error Unauthorized();

    /// @notice The account is frozen.
    /// @param account Account that is frozen.
    error AccountFrozenError(address account);

    /// @notice The account has not allowed this target.
    /// @param target Target of the call.
    error TargetNotAllowed(address target);

    /// @notice The account has not allowed this function.
    /// @param target Target of the call.
    /// @param selector Function of the call.
    error FunctionNotAllowed(address target, bytes4 selector);

    /// @notice The spend would take the window's total above the limit.
    /// @param token Token, the zero address for the native coin.
    /// @param dailyTotal Total the window would reach; the largest number when it does not fit.
    /// @param maxPerDay Limit in force.
    error DailySpendLimitExceeded(address token, uint256 dailyTotal, uint256 maxPerDay);

    /// @notice The account has not allowed payments of this kind.
    /// @param merchant Merchant to be paid.
    /// @param token Token to be paid in.
    /// @param facilitator Facilitator to settle.
    error PaymentNotAllowed(address merchant, address token, address facilitator);

    /// @notice One payment is larger than the rule allows.
    /// @param token Token to be paid in.
    /// @param amount Amount of the payment.
    /// @param maxPerPayment Limit in force.
    error PaymentAmountExceeded(address token, uint256 amount, uint256 maxPerPayment);

    /// @notice The account has already recorded this payment.
    /// @param paymentHash Identity of the payment.
    error PaymentAlreadyRecorded(bytes32 paymentHash);

    /// @notice Delegate calls are never allowed. Part of the published interface for accounts that offer them.
    error DelegateCallNotAllowed();

    /// @notice Sets the caller's spend limit of a token. What was recorded in the current window stays recorded.
    /// @param token Token, the zero address for the native coin.
    /// @param maxPerDay New limit, 0 for none.
    function setSpendLimit(address token, uint256 maxPerDay) external;

    /// @notice Allows or forbids the caller's calls to a target.
    /// @param target Contract or account to call.
    /// @param allowed Whether it may be called.
    function setTargetAllowed(address target, bool allowed) external;

    /// @notice Allows or forbids one function of a target for the caller.
    /// @param target Contract to call.
    /// @param selector Function to call.
    /// @param allowed Whether it may be called.
    function setFunctionAllowed(address target, bytes4 selector, bool allowed) external;

    /// @notice Switches the caller's function allowlist on or off.
    /// @param enabled Whether functions must be allowed one by one.
    function setUseFunctionAllowlist(bool enabled) external;

    /// @notice Names the caller's guardian, who may freeze and release it.
    /// @param guardian New guardian, the zero address for none.
    function setGuardian(address guardian) external;

    /// @notice Freezes or releases an account; the account itself or its guardian only.
    /// @param account Account concerned.
    /// @param frozen Whether it shall be frozen.
    function setAccountFrozen(address account, bool frozen) external;

    /// @notice Sets the caller's rule for signed payments. What was recorded in the current window stays recorded.
    /// @param merchant Merchant to be paid.
    /// @param token Token to be paid in.
    /// @param facilitator Facilitator to settle.
    /// @param maxPerPayment Most that one payment may be, 0 for no limit.
    /// @param maxPerDay Most that may be paid in one window, 0 for no limit.
    /// @param allowed Whether payments are allowed at all.
    function setPaymentPolicy(
        address merchant,
        address token,
        address facilitator,
        uint256 maxPerPayment,
        uint256 maxPerDay,
        bool allowed
    ) external;

    /// @notice Reverts when the caller's rules forbid a call. Checks, in order: frozen, target, function, native
    /// limit, token limit.
    /// @param target Contract or account to call.
    /// @param value Native amount to send.
    /// @param data Calldata to send.
    function checkTransaction(address target, uint256 value, bytes calldata data) external view;

    /// @notice Records a spend of the caller and reverts when it breaks the limit; does nothing without a limit.
    /// @param token Token, the zero address for the native coin.
    /// @param amount Amount spent.
    function recordSpend(address token, uint256 amount) external;

    /// @notice Reverts when the caller's rules forbid a signed payment.
    /// @param merchant Merchant to be paid.
    /// @param token Token to be paid in.
    /// @param facilitator Facilitator to settle.
    /// @param amount Amount to be paid.
    function checkSignedPayment(address merchant, address token, address facilitator, uint256 amount) external view;

    /// @notice Records a signed payment of the caller and reverts when it breaks a rule or was recorded before.
    /// @param merchant Merchant to be paid.
    /// @param token Token to be paid in.
    /// @param facilitator Facilitator to settle.
    /// @param amount Amount to be paid.
    /// @param paymentHash Identity of the payment, used once per account.
    function recordSignedPayment(
        address merchant,
        address token,
        address facilitator,
        uint256 amount,
        bytes32 paymentHash
    ) external;

    /// @notice What a call spends of the token it is sent to: the amount of transfer, approve and transferFrom.
    /// @param target Target of the call.
    /// @param data Calldata of the call.
    /// @return token The target.
    /// @return amount Amount spent, 0 for every other call and for calldata too short to hold an amount.
    function getTokenSpend(address target, bytes calldata data) external pure returns (address token, uint256 amount);

    /// @notice Reads a spend limit as stored; its window may be over.
    /// @param account Account the limit binds.
    /// @param token Token, the zero address for the native coin.
    /// @return The limit.
    function getSpendLimit(address account, address token) external view returns (SpendLimit memory);

    /// @notice Reads a payment rule; spentToday is 0 when the last window is over.
    /// @param account Account the rule binds.
    /// @param merchant Merchant to be paid.
    /// @param token Token to be paid in.
    /// @param facilitator Facilitator to settle.
    /// @return The rule.
    function getPaymentPolicy(
        address account,
        address merchant,
        address token,
        address facilitator
    ) external view returns (PaymentPolicy memory);

    /// @notice Total recorded in the current window.
    /// @param account Account that spent.
    /// @param token Token, the zero address for the native coin.
    /// @return The total, 0 when the last window is over.
    function getSpentToday(address account, address token) external view returns (uint256);

    /// @notice Whether an account may call a target.
    /// @param account Account the rule binds.
    /// @param target Contract or account to call.
    /// @return Whether it may.
    function isTargetAllowed(address account, address target) external view returns (bool);

    /// @notice Whether an account has allowed a function. The module checks it only while the function allowlist is on;
    /// an account may check it for rules of its own.
    /// @param account Account the rule binds.
    /// @param target Contract to call.
    /// @param selector Function to call.
    /// @return Whether it has.
    function isFunctionAllowed(address account, address target, bytes4 selector) external view returns (bool);

    /// @notice Guardian of an account.
    /// @param account Account that is guarded.
    /// @return Its guardian, the zero address for none.
    function guardianOf(address account) external view returns (address);

    /// @notice Whether an account is frozen.
    /// @param account Account concerned.
    /// @return Whether it is.
    function isAccountFrozen(address account) external view returns (bool);
}
