// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title A contract with one number, for accounts and intents to call in examples.
contract DemoTarget {
    /// @notice The number last set.
    uint256 public value;

    /// @notice Sets the number; open to anyone.
    /// @param newValue Number to store.
    function setValue(uint256 newValue) external {
        value = newValue;
    }
}
