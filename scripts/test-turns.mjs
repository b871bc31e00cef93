// Tests that run on one Node where several versions of Node run the tests. `TEST_TURN=1/3` means the second of three runs, and
// the last one is that of the newest Node, on which tests are fastest.
const [turn = 0, turns = 1] = (process.env.TEST_TURN ?? '0/1').split('/').map(Number);

/** Each older Node runs one in so many of the tests that are shared out. The newest Node runs the others. */
const share = 6;

/** Whether this is the run on the newest Node. */
export const isNewest = turn === turns - 1;

/** Whether this run includes the test with the index `i` among those that are shared out. */
export const isMine = (/** @type {number} */ i) => Math.min(i % share, turns - 1) === turn;
