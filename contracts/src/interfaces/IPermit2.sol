// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title The part of Permit2 that moves tokens by a signature with a witness.
interface IPermit2 {
    /// @notice What may be moved.
    /// @param token Token.
    /// @param amount Most that may be moved.
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    /// @notice What the owner signs, besides spender and witness.
    /// @param permitted What may be moved.
    /// @param nonce Any number the owner has not used before.
    /// @param deadline Last second at which the permission is valid.
    struct PermitTransferFrom {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }

    /// @notice What the spender asks for.
    /// @param to Who receives the tokens.
    /// @param requestedAmount Amount.
    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    /// @notice Moves tokens of the owner; the spender that the owner named only.
    /// @param permit What the owner signed.
    /// @param transferDetails What the spender asks for.
    /// @param owner Account whose tokens are moved.
    /// @param witness Hash of what the owner signed besides.
    /// @param witnessTypeString EIP-712 type of the witness and of all that follows it.
    /// @param signature Signature of the owner.
    function permitWitnessTransferFrom(
        PermitTransferFrom memory permit,
        SignatureTransferDetails calldata transferDetails,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external;
}
