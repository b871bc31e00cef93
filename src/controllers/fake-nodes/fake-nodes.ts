import type { Controller } from '../types.ts';
import { type FakeNodesOptions, fakeKubelet } from './kubelet.ts';
import { fakeScheduler } from './scheduler.ts';

/** The controllers of fake nodes: pods are bound to them, and live there without being run. */
export const fakeNodeControllers = (options: FakeNodesOptions): Controller[] => [fakeScheduler, fakeKubelet(options)];
