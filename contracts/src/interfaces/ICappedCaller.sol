// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Calls many contracts that anyone may have deployed in one call, whatever they do.
/// @dev Meant to be placed into an eth_call by state override; it needs no deployment and has no state.
interface ICappedCaller {
    /// @notice One call.
    /// @param target Contract to call.
    /// @param gasMax Most gas that the call may use.
    /// @param data Calldata.
    struct Call {
        address target;
        uint256 gasMax;
        bytes data;
    }

    /// @notice What a call gave.
    /// @param success False when it reverted, ran out of its gas, or returned too much.
    /// @param returnData What it returned; empty when it failed.
    struct Result {
        bool success;
        bytes returnData;
    }

    /// @notice Makes the calls in their order, as far as the gas reaches.
    /// @dev There are fewer results than calls when the gas does not suffice to give the next call its share: call
    /// again with the rest of the list. There are none when not even the first call could be given its gas.
    /// @param calls Calls to make.
    /// @param bytesMax Most bytes that a call may return.
    /// @return results One per call that was made, in order.
    function callAll(
        Call[] calldata calls,
        uint256 bytesMax
    ) external view returns (Result[] memory results);
}
