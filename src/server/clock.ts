export { systemClock } from '../meta/index.ts';
