// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title The transfer of EIP-3009 that only its payee may carry out, in the form that takes any signature.
interface IReceiveWithAuthorization {
    /// @notice Carries out a transfer that its payer signed; the payee only.
    /// @param from Payer.
    /// @param to Payee.
    /// @param value Amount.
    /// @param validAfter Second after which the authorization is valid.
    /// @param validBefore Second before which it is valid.
    /// @param nonce Any 32 bytes the payer has not used before.
    /// @param signature Signature of the payer.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external;
}
