import type { EngineName } from '../../core/model/collect-settings.ts';
import { DYNAMO } from './dynamo.ts';
import type { Engine } from './engine.ts';
import { LLAMA_CPP } from './llama-cpp.ts';
import { LM_DEPLOY } from './lm-deploy.ts';
import { MIND_IE } from './mind-ie.ts';
import { NIM } from './nim.ts';
import { RAY_SERVE } from './ray-serve.ts';
import { SG_LANG } from './sg-lang.ts';
import { TGI } from './tgi.ts';
import { TRITON } from './triton.ts';
import { TRT_LLM } from './trt-llm.ts';
import { VLLM } from './vllm.ts';

/** Every engine that is known. Where a page could be of two, the earlier one counts. */
export const ENGINES: readonly Engine[] = [
  VLLM,
  SG_LANG,
  TRT_LLM,
  TRITON,
  TGI,
  LLAMA_CPP,
  LM_DEPLOY,
  NIM,
  MIND_IE,
  RAY_SERVE,
  DYNAMO,
];

const BY_NAME: ReadonlyMap<EngineName, Engine> = new Map(ENGINES.map((engine) => [engine.name, engine]));

/** undefined: `Auto`, which is found out from the page. */
export function engineNamed(name: EngineName | 'Auto'): Engine | undefined {
  return name === 'Auto' ? undefined : BY_NAME.get(name);
}
