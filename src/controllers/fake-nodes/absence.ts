import { isStatus } from '../../meta/index.ts';

/** Waits for a write to an object that may be gone by now, and then needs nothing more. */
export async function ignoringAbsence(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
}
