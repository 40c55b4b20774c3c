import type { Branch, CompletionTree, Switch, Values } from './completion-tree.ts';
import { shellWord } from './shell-word.ts';

/** A script that makes zsh complete a program: to be sourced after compinit, or as a file `_PROGRAM` in its `fpath`. */
export function zshCompletion({ program, switches, commands }: CompletionTree): string {
  const specs = [...switches.flatMap(switchSpecs), "'1: :->command'", "'*:: :->rest'"];
  const list = commands.map(({ name, description }) => shellWord(`${name}:${description}`));
  return `#compdef ${program}
# Completion of ${program} for zsh: source <(${program} completion zsh), after compinit

_${program}() {
  local curcontext="$curcontext" state line
  typeset -A opt_args
  local -a commands
  commands=(
    ${list.join('\n    ')}
  )
  _arguments -C \\
    ${specs.join(' \\\n    ')}
  case $state in
    command) _describe command commands ;;
    rest)
      case $line[1] in
${commands.map(commandCase).join('\n')}
      esac
      ;;
  esac
}

if [[ \${funcstack[1]} == _${program} ]]; then
  _${program} "$@"
else
  compdef _${program} ${program}
fi
`;
}

function commandCase({ name, switches, values }: Branch): string {
  // one for any argument would keep zsh from completing options
  const rest = values.kind === 'any' ? [] : [shellWord(`*: :${action(values)}`)];
  const specs = [...switches.flatMap(switchSpecs), ...rest];
  return `        ${name})
          _arguments \\
            ${specs.join(' \\\n            ')}
          ;;`;
}

/** As `_arguments` takes them: where one of its names stands already, the others are not offered. */
function switchSpecs({ names, description, values }: Switch): readonly string[] {
  const text = description.replace(/[\\[\]:]/g, '\\$&');
  const others = names.length > 1 ? `(${names.join(' ')})` : '';
  return names.map((name) => {
    if (values === undefined) return shellWord(`${others}${name}[${text}]`);
    return shellWord(`${others}${name}${name.startsWith('--') ? '=' : ''}[${text}]: :${action(values)}`);
  });
}

function action(values: Values): string {
  switch (values.kind) {
    case 'choices':
      return `(${values.of.join(' ')})`;
    case 'files':
      return '_files';
    case 'any':
      return ' ';
  }
}
