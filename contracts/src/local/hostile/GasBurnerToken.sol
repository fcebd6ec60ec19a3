// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Token whose balanceOf burns all the gas it is given.
contract GasBurnerToken {
    /// @notice Name of the token.
    string public constant name = "Gas Burner";

    /// @notice Symbol of the token.
    string public constant symbol = "BURN";

    /// @notice Decimals of the token.
    uint8 public constant decimals = 18;

    /// @notice Burns all gas and fails.
    /// @return Never.
    function balanceOf(address) external pure returns (uint256) {
        assembly ("memory-safe") {
            invalid()
        }
    }
}
