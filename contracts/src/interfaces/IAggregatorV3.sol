// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Price feed as its readers know it.
interface IAggregatorV3 {
    /// @notice A new answer was published.
    /// @param current The answer.
    /// @param roundId Round of the answer.
    /// @param updatedAt Time of the answer, in seconds.
    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    /// @notice Decimals of every answer.
    /// @return The decimals.
    function decimals() external view returns (uint8);

    /// @notice What is priced, such as "ETH / USD".
    /// @return The description.
    function description() external view returns (string memory);

    /// @notice Version of the feed.
    /// @return The version.
    function version() external view returns (uint256);

    /// @notice Reads one round.
    /// @param roundId Round to read.
    /// @return id The round.
    /// @return answer Price in that round.
    /// @return startedAt When the round started, in seconds.
    /// @return updatedAt When it was answered, in seconds.
    /// @return answeredInRound Round the answer comes from.
    function getRoundData(
        uint80 roundId
    ) external view returns (uint80 id, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound);

    /// @notice Reads the latest round.
    /// @return id The round.
    /// @return answer Price in that round.
    /// @return startedAt When the round started, in seconds.
    /// @return updatedAt When it was answered, in seconds.
    /// @return answeredInRound Round the answer comes from.
    function latestRoundData()
        external
        view
        returns (uint80 id, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound);
}
