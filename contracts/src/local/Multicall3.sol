// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Many calls in one, with the interface that client libraries expect at its well-known address.
/// @dev For local chains, which do not have the original. Never give it tokens or allowances: anyone may use it.
contract Multicall3 {
    /// @notice A call that must succeed or not, depending on the function it is given to.
    struct Call {
        address target;
        bytes callData;
    }

    /// @notice A call that says itself whether it may fail.
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    /// @notice A call with native value that says itself whether it may fail.
    struct Call3Value {
        address target;
        bool allowFailure;
        uint256 value;
        bytes callData;
    }

    /// @notice What a call returned.
    struct Result {
        bool success;
        bytes returnData;
    }

    /// @notice A call that had to succeed failed.
    /// @param index Position of the call.
    /// @param returnData What it returned.
    error CallFailed(uint256 index, bytes returnData);

    /// @notice The values of the calls do not add up to the value sent.
    /// @param sent Native value sent.
    /// @param used Native value the calls use.
    error ValueMismatch(uint256 sent, uint256 used);

    /// @notice Makes calls that must all succeed.
    /// @param calls Calls to make.
    /// @return blockNumber Block they were made in.
    /// @return returnData What each returned.
    function aggregate(
        Call[] calldata calls
    ) external payable returns (uint256 blockNumber, bytes[] memory returnData) {
        Result[] memory results = tryAggregate(true, calls);
        returnData = new bytes[](results.length);
        for (uint256 i = 0; i < results.length; ++i) {
            returnData[i] = results[i].returnData;
        }
        return (block.number, returnData);
    }

    /// @notice Makes calls that must all succeed, and says in which block.
    /// @param calls Calls to make.
    /// @return blockNumber Block they were made in.
    /// @return blockHash Hash of that block, which a transaction can not know: zero.
    /// @return returnData What each returned.
    function blockAndAggregate(
        Call[] calldata calls
    ) external payable returns (uint256 blockNumber, bytes32 blockHash, Result[] memory returnData) {
        return tryBlockAndAggregate(true, calls);
    }

    /// @notice Makes calls that each say whether they may fail.
    /// @param calls Calls to make.
    /// @return returnData What each returned.
    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory returnData) {
        returnData = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            returnData[i] = _call(i, calls[i].target, 0, calls[i].callData, calls[i].allowFailure);
        }
    }

    /// @notice Makes calls with native value that each say whether they may fail; the value sent must be used up.
    /// @param calls Calls to make.
    /// @return returnData What each returned.
    function aggregate3Value(Call3Value[] calldata calls) external payable returns (Result[] memory returnData) {
        uint256 used = 0;
        returnData = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            used += calls[i].value;
            returnData[i] = _call(i, calls[i].target, calls[i].value, calls[i].callData, calls[i].allowFailure);
        }
        if (used != msg.value) revert ValueMismatch(msg.value, used);
    }

    /// @notice Hash of a recent block.
    /// @param blockNumber Number of the block.
    /// @return blockHash Its hash, zero when it is too old.
    function getBlockHash(uint256 blockNumber) external view returns (bytes32 blockHash) {
        return blockhash(blockNumber);
    }

    /// @notice Number of this block.
    /// @return blockNumber The number.
    function getBlockNumber() external view returns (uint256 blockNumber) {
        return block.number;
    }

    /// @notice Proposer of this block.
    /// @return coinbase The proposer.
    function getCurrentBlockCoinbase() external view returns (address coinbase) {
        return block.coinbase;
    }

    /// @notice Random value of this block, under the name it had before the merge.
    /// @return difficulty The value.
    function getCurrentBlockDifficulty() external view returns (uint256 difficulty) {
        return block.prevrandao;
    }

    /// @notice Gas limit of this block.
    /// @return gaslimit The limit.
    function getCurrentBlockGasLimit() external view returns (uint256 gaslimit) {
        return block.gaslimit;
    }

    /// @notice Time of this block.
    /// @return timestamp The time, in seconds.
    function getCurrentBlockTimestamp() external view returns (uint256 timestamp) {
        return block.timestamp;
    }

    /// @notice Native balance of an account.
    /// @param addr The account.
    /// @return balance Its balance.
    function getEthBalance(address addr) external view returns (uint256 balance) {
        return addr.balance;
    }

    /// @notice Hash of the block before this one.
    /// @return blockHash The hash.
    function getLastBlockHash() external view returns (bytes32 blockHash) {
        return blockhash(block.number - 1);
    }

    /// @notice Base fee of this block.
    /// @return basefee The fee.
    function getBasefee() external view returns (uint256 basefee) {
        return block.basefee;
    }

    /// @notice Id of this chain.
    /// @return chainid The id.
    function getChainId() external view returns (uint256 chainid) {
        return block.chainid;
    }

    /// @notice Makes calls that must all succeed, or may all fail.
    /// @param requireSuccess Whether all must succeed.
    /// @param calls Calls to make.
    /// @return returnData What each returned.
    function tryAggregate(
        bool requireSuccess,
        Call[] calldata calls
    ) public payable returns (Result[] memory returnData) {
        returnData = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            returnData[i] = _call(i, calls[i].target, 0, calls[i].callData, !requireSuccess);
        }
    }

    /// @notice Makes calls that must all succeed, or may all fail, and says in which block.
    /// @param requireSuccess Whether all must succeed.
    /// @param calls Calls to make.
    /// @return blockNumber Block they were made in.
    /// @return blockHash Hash of that block, which a transaction can not know: zero.
    /// @return returnData What each returned.
    function tryBlockAndAggregate(
        bool requireSuccess,
        Call[] calldata calls
    ) public payable returns (uint256 blockNumber, bytes32 blockHash, Result[] memory returnData) {
        return (block.number, blockhash(block.number), tryAggregate(requireSuccess, calls));
    }

    function _call(
        uint256 index,
        address target,
        uint256 value,
        bytes calldata callData,
        bool allowFailure
    ) private returns (Result memory result) {
        (result.success, result.returnData) = target.call{value: value}(callData);
        if (!result.success && !allowFailure) revert CallFailed(index, result.returnData);
    }
}
