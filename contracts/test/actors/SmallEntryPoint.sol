// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IAccount, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";

/// @title Entry point of ERC-4337 reduced to what forwards calls: the calldata of `handleOps` is that of versions 0.7 to
/// 0.9, and accounts validate and execute as under the real one. It counts no nonces and charges no gas.
contract SmallEntryPoint {
    error FailedOp(uint256 index);

    /// @notice Validates every operation, then executes them in order; a failed execution leaves the others alone.
    function handleOps(PackedUserOperation[] calldata ops, address payable) external {
        for (uint256 i = 0; i < ops.length; i++) {
            if (IAccount(ops[i].sender).validateUserOp(ops[i], getUserOpHash(ops[i]), 0) != 0) revert FailedOp(i);
        }
        for (uint256 i = 0; i < ops.length; i++) {
            (bool ok, ) = ops[i].sender.call(ops[i].callData);
            ok;
        }
    }

    /// @notice What the signer of the account signs.
    function getUserOpHash(PackedUserOperation calldata op) public view returns (bytes32) {
        return keccak256(abi.encode(op.sender, op.nonce, keccak256(op.callData), address(this), block.chainid));
    }
}
