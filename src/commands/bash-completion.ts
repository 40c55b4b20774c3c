import type { Branch, CompletionTree, Values } from './completion-tree.ts';
import { shellWord } from './shell-word.ts';

/** A script that makes bash (4 or later) complete a program. It needs nothing else, not even bash-completion. */
export function bashCompletion({ program, switches, commands }: CompletionTree): string {
  const names = commands.map(({ name }) => name);
  const root: Branch = { name: '', description: '', switches, values: { kind: 'choices', of: names } };
  const branches = [root, ...commands];
  return `# Completion of ${program} for bash: source <(${program} completion bash)

_${program}_words() {
  COMPREPLY=($(compgen -W "$1" -- "$current"))
}

_${program}_files() {
  compopt -o default 2> /dev/null
}

_${program}() {
  local i command='' current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  # bash takes --option=value for three words
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $before == '=' ]]; then
    before=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      ${names.join(' | ')})
        command=\${COMP_WORDS[i]}
        break
        ;;
    esac
  done
  case "$command $before" in
${branches.flatMap((branch) => valueCases(program, branch)).join('\n')}
    *)
      case "$command" in
${branches.map((branch) => wordCase(program, branch)).join('\n')}
      esac
      ;;
  esac
}

complete -F _${program} ${program}
`;
}

/** What can stand after an option. */
function valueCases(program: string, { name, switches }: Branch): readonly string[] {
  return switches.flatMap(({ names, values }) => {
    if (values === undefined) return [];
    const before = names.map((one) => shellWord(`${name} ${one}`)).join(' | ');
    return `    ${before}) ${reply(program, values)} ;;`;
  });
}

/** What can stand elsewhere. */
function wordCase(program: string, { name, switches, values }: Branch): string {
  const options: Values = { kind: 'choices', of: switches.flatMap(({ names }) => names) };
  return `        ${shellWord(name)})
          if [[ $current == -* ]]; then ${reply(program, options)}; else ${reply(program, values)}; fi
          ;;`;
}

function reply(program: string, values: Values): string {
  switch (values.kind) {
    case 'choices':
      return `_${program}_words ${shellWord(values.of.join(' '))}`;
    case 'files':
      return `_${program}_files`;
    case 'any':
      return ':';
  }
}
