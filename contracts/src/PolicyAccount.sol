// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Account} from "@openzeppelin/contracts/account/Account.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SignerECDSA} from "@openzeppelin/contracts/utils/cryptography/signers/SignerECDSA.sol";
import {IPolicyAccount} from "./interfaces/IPolicyAccount.sol";
import {IPolicyModule} from "./interfaces/IPolicyModule.sol";
import {TokenSpend} from "./TokenSpend.sol";

/// @title Smart account whose every call passes the rules of a policy module.
/// @dev The account deliberately offers no ERC-1271: a signature valid for the account would let tokens be moved by
/// permits and authorizations that no spend limit sees. Gas a user operation prepays is not a recorded spend; only
/// the signer can cause it.
contract PolicyAccount is IPolicyAccount, Account, SignerECDSA {
    /// @inheritdoc IPolicyAccount
    IPolicyModule public immutable policyModule;

    /// @inheritdoc IPolicyAccount
    mapping(address sessionKey => SessionKey) public sessionKeys;

    /// @inheritdoc IPolicyAccount
    mapping(address sessionKey => mapping(uint256 nonce => bool)) public usedSessionNonces;

    /// @param signer_ Key that owns the account.
    /// @param policyModule_ Module that holds and enforces the rules.
    constructor(address signer_, IPolicyModule policyModule_) SignerECDSA(signer_) {
        if (signer_ == address(0)) revert InvalidSigner(signer_);
        if (address(policyModule_).code.length == 0) revert InvalidPolicyModule(address(policyModule_));
        policyModule = policyModule_;
    }

    /// @inheritdoc IPolicyAccount
    function execute(
        address target,
        uint256 value,
        bytes calldata data
    ) external onlyEntryPointOrSelf returns (bytes memory) {
        _spend(target, value, data);
        return _call(target, value, data);
    }

    /// @inheritdoc IPolicyAccount
    function executeWithSessionKey(
        address target,
        uint256 value,
        bytes calldata data,
        uint256 deadline,
        uint256 nonce,
        bytes calldata signature
    ) external returns (bytes memory) {
        if (target == address(this) || target == address(policyModule) || target == address(entryPoint())) {
            revert SessionTargetForbidden(target);
        }
        if (block.timestamp > deadline) revert SessionKeyExpired();
        address sessionKey = _recoverSessionKey(_sessionDigest(target, value, data, deadline, nonce), signature);
        if (usedSessionNonces[sessionKey][nonce]) revert SessionNonceUsed();

        usedSessionNonces[sessionKey][nonce] = true;
        _spend(target, value, data);
        _requireKnownSpend(target, data);
        emit SessionKeyExecuted(sessionKey, target, value, nonce);
        return _call(target, value, data);
    }

    /// @inheritdoc IPolicyAccount
    function setSpendLimit(address token, uint256 maxPerDay) external onlyEntryPointOrSelf {
        policyModule.setSpendLimit(token, maxPerDay);
    }

    /// @inheritdoc IPolicyAccount
    function setTargetAllowed(address target, bool allowed) external onlyEntryPointOrSelf {
        policyModule.setTargetAllowed(target, allowed);
    }

    /// @inheritdoc IPolicyAccount
    function setFunctionAllowed(address target, bytes4 selector, bool allowed) external onlyEntryPointOrSelf {
        policyModule.setFunctionAllowed(target, selector, allowed);
    }

    /// @inheritdoc IPolicyAccount
    function setUseFunctionAllowlist(bool enabled) external onlyEntryPointOrSelf {
        policyModule.setUseFunctionAllowlist(enabled);
    }

    /// @inheritdoc IPolicyAccount
    function setSessionKey(address sessionKey, uint48 expiresAt, bool active) external onlyEntryPointOrSelf {
        if (sessionKey == address(0)) revert InvalidSessionKey();
        sessionKeys[sessionKey] = SessionKey({expiresAt: expiresAt, active: active});
        emit SessionKeyUpdated(sessionKey, expiresAt, active);
    }

    /// @inheritdoc IPolicyAccount
    function setGuardian(address guardian) external onlyEntryPointOrSelf {
        policyModule.setGuardian(guardian);
    }

    /// @inheritdoc IPolicyAccount
    function setAccountFrozen(bool frozen) external onlyEntryPointOrSelf {
        policyModule.setAccountFrozen(address(this), frozen);
    }

    // The signer may also call directly, without a user operation.
    function _checkEntryPointOrSelf() internal view override {
        if (msg.sender != signer()) super._checkEntryPointOrSelf();
    }

    // Everything is recorded before the call, so that a call back into the account already meets the new totals.
    function _spend(address target, uint256 value, bytes calldata data) private {
        policyModule.checkTransaction(target, value, data);
        if (TokenSpend.isTruncated(data)) revert TruncatedTokenCall(target, bytes4(data), data.length);
        if (value > 0) policyModule.recordSpend(address(0), value);
        uint256 amount = TokenSpend.amountOf(data);
        if (amount > 0) policyModule.recordSpend(target, amount);
    }

    // A limit counts three functions; any other function of the same contract could move its token uncounted. The owner
    // may allow a function by name. Missing bytes of a selector count as zero, as old contracts read them.
    function _requireKnownSpend(address target, bytes calldata data) private view {
        if (TokenSpend.isKnown(data)) return;
        if (policyModule.getSpendLimit(address(this), target).maxPerDay == 0) return;
        bytes4 selector = bytes4(data);
        if (!policyModule.isFunctionAllowed(address(this), target, selector)) {
            revert SessionFunctionForbidden(target, selector);
        }
    }

    function _call(address target, uint256 value, bytes calldata data) private returns (bytes memory) {
        (bool succeeded, bytes memory returnData) = target.call{value: value}(data);
        if (!succeeded) revert ExecutionFailed(returnData);
        return returnData;
    }

    function _recoverSessionKey(bytes32 digest, bytes calldata signature) private view returns (address sessionKey) {
        ECDSA.RecoverError failure;
        (sessionKey, failure, ) = ECDSA.tryRecoverCalldata(digest, signature);
        if (failure != ECDSA.RecoverError.NoError) revert InvalidSessionKey();
        SessionKey storage key = sessionKeys[sessionKey];
        if (!key.active) revert InvalidSessionKey();
        if (block.timestamp > key.expiresAt) revert SessionKeyExpired();
    }

    function _sessionDigest(
        address target,
        uint256 value,
        bytes calldata data,
        uint256 deadline,
        uint256 nonce
    ) private view returns (bytes32) {
        return
            MessageHashUtils.toEthSignedMessageHash(
                keccak256(abi.encode(address(this), block.chainid, target, value, keccak256(data), deadline, nonce))
            );
    }
}
