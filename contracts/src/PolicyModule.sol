// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IPolicyModule} from "./interfaces/IPolicyModule.sol";
import {TokenSpend} from "./TokenSpend.sol";

/// @title Rules an account sets for itself: what it may call, and how much it may spend in a day.
contract PolicyModule is IPolicyModule {
    uint256 private constant WINDOW_SECONDS = 1 days;
    address private constant NATIVE = address(0);

    mapping(address account => mapping(address token => SpendLimit)) private _limits;
    mapping(address account => mapping(address target => bool)) private _targets;
    mapping(address account => mapping(address target => mapping(bytes4 selector => bool))) private _functions;
    mapping(address account => bool) private _usesFunctionAllowlist;
    mapping(address account => address) private _guardians;
    mapping(address account => bool) private _frozen;
    mapping(address account => mapping(address merchant => mapping(address token => mapping(address facilitator => PaymentPolicy))))
        private _payments;
    mapping(address account => mapping(bytes32 paymentHash => bool)) private _recordedPayments;

    /// @inheritdoc IPolicyModule
    function setSpendLimit(address token, uint256 maxPerDay) external {
        // Only the limit changes: touching the window here would let a changed limit be spent twice in a day.
        _limits[msg.sender][token].maxPerDay = maxPerDay;
        emit SpendLimitSet(msg.sender, token, maxPerDay);
    }

    /// @inheritdoc IPolicyModule
    function setTargetAllowed(address target, bool allowed) external {
        _targets[msg.sender][target] = allowed;
        emit TargetAllowlistUpdated(msg.sender, target, allowed);
    }

    /// @inheritdoc IPolicyModule
    function setFunctionAllowed(address target, bytes4 selector, bool allowed) external {
        _functions[msg.sender][target][selector] = allowed;
        emit FunctionAllowlistUpdated(msg.sender, target, selector, allowed);
    }

    /// @inheritdoc IPolicyModule
    function setUseFunctionAllowlist(bool enabled) external {
        _usesFunctionAllowlist[msg.sender] = enabled;
        emit FunctionAllowlistModeUpdated(msg.sender, enabled);
    }

    /// @inheritdoc IPolicyModule
    function setGuardian(address guardian) external {
        _guardians[msg.sender] = guardian;
        emit GuardianSet(msg.sender, guardian);
    }

    /// @inheritdoc IPolicyModule
    function setAccountFrozen(address account, bool frozen) external {
        if (msg.sender != account && msg.sender != _guardians[account]) revert Unauthorized();
        _frozen[account] = frozen;
        emit AccountFrozen(account, frozen);
    }

    /// @inheritdoc IPolicyModule
    function setPaymentPolicy(
        address merchant,
        address token,
        address facilitator,
        uint256 maxPerPayment,
        uint256 maxPerDay,
        bool allowed
    ) external {
        PaymentPolicy storage policy = _payments[msg.sender][merchant][token][facilitator];
        policy.maxPerPayment = maxPerPayment;
        policy.maxPerDay = maxPerDay;
        policy.allowed = allowed;
        emit PaymentPolicySet(msg.sender, merchant, token, facilitator, maxPerPayment, maxPerDay, allowed);
    }

    /// @inheritdoc IPolicyModule
    function checkTransaction(address target, uint256 value, bytes calldata data) external view {
        if (_frozen[msg.sender]) revert AccountFrozenError(msg.sender);
        if (!_targets[msg.sender][target]) revert TargetNotAllowed(target);
        if (data.length >= 4 && _usesFunctionAllowlist[msg.sender]) {
            bytes4 selector = bytes4(data);
            if (!_functions[msg.sender][target][selector]) revert FunctionNotAllowed(target, selector);
        }
        _requireWithinLimit(NATIVE, value);
        _requireWithinLimit(target, TokenSpend.amountOf(data));
    }

    /// @inheritdoc IPolicyModule
    function recordSpend(address token, uint256 amount) external {
        SpendLimit storage limit = _limits[msg.sender][token];
        uint256 maxPerDay = limit.maxPerDay;
        if (maxPerDay == 0) return;
        uint256 spent = _inWindow(limit.spentToday, limit.lastResetTimestamp);
        _requireRoom(token, spent, amount, maxPerDay);
        if (_isOver(limit.lastResetTimestamp)) limit.lastResetTimestamp = uint48(block.timestamp);
        uint256 total = spent + amount;
        limit.spentToday = total;
        emit SpendRecorded(msg.sender, token, amount, total);
    }

    /// @inheritdoc IPolicyModule
    function checkSignedPayment(address merchant, address token, address facilitator, uint256 amount) external view {
        _requirePayable(merchant, token, facilitator, amount);
    }

    /// @inheritdoc IPolicyModule
    function recordSignedPayment(
        address merchant,
        address token,
        address facilitator,
        uint256 amount,
        bytes32 paymentHash
    ) external {
        if (_recordedPayments[msg.sender][paymentHash]) revert PaymentAlreadyRecorded(paymentHash);
        PaymentPolicy storage policy = _requirePayable(merchant, token, facilitator, amount);
        _recordedPayments[msg.sender][paymentHash] = true;
        // Without a limit the total may not fit; it then stays at the largest number instead of blocking payments.
        uint256 total = Math.saturatingAdd(_inWindow(policy.spentToday, policy.lastResetTimestamp), amount);
        if (_isOver(policy.lastResetTimestamp)) policy.lastResetTimestamp = uint48(block.timestamp);
        policy.spentToday = total;
        emit SignedPaymentRecorded(msg.sender, merchant, token, facilitator, amount, paymentHash, total);
    }

    /// @inheritdoc IPolicyModule
    function getTokenSpend(address target, bytes calldata data) external pure returns (address token, uint256 amount) {
        return (target, TokenSpend.amountOf(data));
    }

    /// @inheritdoc IPolicyModule
    function getSpendLimit(address account, address token) external view returns (SpendLimit memory) {
        return _limits[account][token];
    }

    /// @inheritdoc IPolicyModule
    function getPaymentPolicy(
        address account,
        address merchant,
        address token,
        address facilitator
    ) external view returns (PaymentPolicy memory policy) {
        policy = _payments[account][merchant][token][facilitator];
        policy.spentToday = _inWindow(policy.spentToday, policy.lastResetTimestamp);
    }

    /// @inheritdoc IPolicyModule
    function getSpentToday(address account, address token) external view returns (uint256) {
        SpendLimit storage limit = _limits[account][token];
        return _inWindow(limit.spentToday, limit.lastResetTimestamp);
    }

    /// @inheritdoc IPolicyModule
    function isTargetAllowed(address account, address target) external view returns (bool) {
        return _targets[account][target];
    }

    /// @inheritdoc IPolicyModule
    function isFunctionAllowed(address account, address target, bytes4 selector) external view returns (bool) {
        return _functions[account][target][selector];
    }

    /// @inheritdoc IPolicyModule
    function guardianOf(address account) external view returns (address) {
        return _guardians[account];
    }

    /// @inheritdoc IPolicyModule
    function isAccountFrozen(address account) external view returns (bool) {
        return _frozen[account];
    }

    function _requireWithinLimit(address token, uint256 amount) private view {
        SpendLimit storage limit = _limits[msg.sender][token];
        if (limit.maxPerDay == 0) return;
        _requireRoom(token, _inWindow(limit.spentToday, limit.lastResetTimestamp), amount, limit.maxPerDay);
    }

    function _requirePayable(
        address merchant,
        address token,
        address facilitator,
        uint256 amount
    ) private view returns (PaymentPolicy storage policy) {
        if (_frozen[msg.sender]) revert AccountFrozenError(msg.sender);
        policy = _payments[msg.sender][merchant][token][facilitator];
        if (!policy.allowed) revert PaymentNotAllowed(merchant, token, facilitator);
        if (policy.maxPerPayment != 0 && amount > policy.maxPerPayment) {
            revert PaymentAmountExceeded(token, amount, policy.maxPerPayment);
        }
        if (policy.maxPerDay != 0) {
            uint256 spent = _inWindow(policy.spentToday, policy.lastResetTimestamp);
            _requireRoom(token, spent, amount, policy.maxPerDay);
        }
    }

    // Compares with what is left, because spent may exceed a limit that was lowered and the sum may not fit. An
    // amount of 0 always has room.
    function _requireRoom(address token, uint256 spent, uint256 amount, uint256 maxPerDay) private pure {
        if (amount > Math.saturatingSub(maxPerDay, spent)) {
            revert DailySpendLimitExceeded(token, Math.saturatingAdd(spent, amount), maxPerDay);
        }
    }

    function _inWindow(uint256 spent, uint48 windowStart) private view returns (uint256) {
        return _isOver(windowStart) ? 0 : spent;
    }

    function _isOver(uint48 windowStart) private view returns (bool) {
        return block.timestamp >= windowStart + WINDOW_SECONDS;
    }
}
