// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IPolicyModule} from "./IPolicyModule.sol";

/// @title Smart account whose every call passes the rules of a policy module.
/// @dev "Owner" below means the signer, the account itself, or the entry point acting for a user operation the signer
/// signed; anyone else is refused with AccountUnauthorized.
interface IPolicyAccount {
    /// @notice A key that may act for the account within the rules.
    /// @param expiresAt Last second at which the key may act.
    /// @param active Whether the key may act at all.
    struct SessionKey {
        uint48 expiresAt;
        bool active;
    }

    /// @notice The owner changed a session key.
    /// @param sessionKey Address of the key.
    /// @param expiresAt Last second at which the key may act.
    /// @param active Whether the key may act at all.
    event SessionKeyUpdated(address indexed sessionKey, uint48 expiresAt, bool active);

    /// @notice A session key acted.
    /// @param sessionKey Address of the key.
    /// @param target Contract or account that was called.
    /// @param value Native amount that was sent.
    /// @param nonce Nonce of the key that was used up.
    event SessionKeyExecuted(address indexed sessionKey, address indexed target, uint256 value, uint256 nonce);

    /// @notice The call failed.
    /// @param returnData What the target returned.
    error ExecutionFailed(bytes returnData);

    /// @notice The signature is malformed or not that of an active session key.
    error InvalidSessionKey();

    /// @notice The session key has expired, or the signature's deadline has passed.
    error SessionKeyExpired();

    /// @notice The session key has already used this nonce.
    error SessionNonceUsed();

    /// @notice A session key may never call the account, its policy module or the entry point, whatever is allowed:
    /// each of them would let the key change its own rules or move funds past them.
    /// @param target Target of the call.
    error SessionTargetForbidden(address target);

    /// @notice The target has a spend limit, and the function is not one whose spend the limit counts (transfer, approve,
    /// transferFrom). A session key may call it only where the owner allowed this function of this target by
    /// setFunctionAllowed; the entry counts here whether or not the function allowlist is on.
    /// @param target Target of the call.
    /// @param selector Function of the call; missing bytes of shorter calldata are zero.
    error SessionFunctionForbidden(address target, bytes4 selector);

    /// @notice A transfer, approve or transferFrom call is cut short of its amount, so its spend can not be seen.
    /// @param target Target of the call.
    /// @param selector Function of the call.
    /// @param length Length of the calldata in bytes.
    error TruncatedTokenCall(address target, bytes4 selector, uint256 length);

    /// @notice The signer given at deployment is the zero address.
    /// @param signer Address that was given.
    error InvalidSigner(address signer);

    /// @notice The policy module given at deployment is not a contract.
    /// @param policyModule Address that was given.
    error InvalidPolicyModule(address policyModule);

    /// @notice Makes a call within the rules; owner only.
    /// @param target Contract or account to call.
    /// @param value Native amount to send.
    /// @param data Calldata to send.
    /// @return What the target returned.
    function execute(address target, uint256 value, bytes calldata data) external returns (bytes memory);

    /// @notice Makes a call within the rules, signed by a session key; anyone may relay it.
    /// @dev On a target with a spend limit a key may call only transfer, approve, transferFrom and the functions that
    /// the owner allowed there by name.
    ///
    /// The key signs the EIP-191 personal message over keccak256(abi.encode(account, chainid, target, value,
    /// keccak256(data), deadline, nonce)).
    /// @param target Contract or account to call.
    /// @param value Native amount to send.
    /// @param data Calldata to send.
    /// @param deadline Last second at which the signature is good.
    /// @param nonce Any number the key has not used before.
    /// @param signature 65-byte signature of the session key, its s in the lower half order.
    /// @return What the target returned.
    function executeWithSessionKey(
        address target,
        uint256 value,
        bytes calldata data,
        uint256 deadline,
        uint256 nonce,
        bytes calldata signature
    ) external returns (bytes memory);

    /// @notice Sets the account's spend limit of a token; owner only.
    /// @param token Token, the zero address for the native coin.
    /// @param maxPerDay New limit, 0 for none.
    function setSpendLimit(address token, uint256 maxPerDay) external;

    /// @notice Allows or forbids calls to a target; owner only.
    /// @param target Contract or account to call.
    /// @param allowed Whether it may be called.
    function setTargetAllowed(address target, bool allowed) external;

    /// @notice Allows or forbids one function of a target; owner only.
    /// @param target Contract to call.
    /// @param selector Function to call.
    /// @param allowed Whether it may be called.
    function setFunctionAllowed(address target, bytes4 selector, bool allowed) external;

    /// @notice Switches the function allowlist on or off; owner only.
    /// @param enabled Whether functions must be allowed one by one.
    function setUseFunctionAllowlist(bool enabled) external;

    /// @notice Adds, changes or switches off a session key; owner only.
    /// @param sessionKey Address of the key.
    /// @param expiresAt Last second at which the key may act.
    /// @param active Whether the key may act at all.
    function setSessionKey(address sessionKey, uint48 expiresAt, bool active) external;

    /// @notice Names the guardian, who may freeze and release the account; owner only.
    /// @param guardian New guardian, the zero address for none.
    function setGuardian(address guardian) external;

    /// @notice Freezes or releases the account; owner only.
    /// @param frozen Whether it shall be frozen.
    function setAccountFrozen(bool frozen) external;

    /// @notice Module that holds and enforces the rules.
    /// @return The module.
    function policyModule() external view returns (IPolicyModule);

    /// @notice Reads a session key.
    /// @param sessionKey Address of the key.
    /// @return expiresAt Last second at which the key may act.
    /// @return active Whether the key may act at all.
    function sessionKeys(address sessionKey) external view returns (uint48 expiresAt, bool active);

    /// @notice Whether a session key has used a nonce.
    /// @param sessionKey Address of the key.
    /// @param nonce Nonce to look up.
    /// @return Whether it has.
    function usedSessionNonces(address sessionKey, uint256 nonce) external view returns (bool);
}
