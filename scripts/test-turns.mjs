// Tests that run on one Node where several versions of Node run the tests. `TEST_TURN=1/3` means the second of three runs, and
// the last one is that of the newest Node.
const [turn = 0, turns = 1] = (process.env.TEST_TURN ?? '0/1').split('/').map(Number);

/** Each older Node runs one in so many of these tests. The newest Node, on which they are fastest, runs the others. */
const share = 6;

/** Whether this run includes the test with the index `i` among those that run on one Node. */
export const isMine = (/** @type {number} */ i) => Math.min(i % share, turns - 1) === turn;
