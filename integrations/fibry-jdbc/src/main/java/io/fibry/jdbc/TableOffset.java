package io.fibry.jdbc;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The offset of a turn in the history of its kind. The position alone does not show whether the
 * turn was lost, because a database that has lost transactions uses their numbers again. Therefore
 * the offset also names the turn.
 *
 * @param turn the turn; empty at the beginning of the history
 */
record TableOffset(TablePosition position, Optional<TurnId> turn) {
  private static final Pattern FORM =
      Pattern.compile("(\\d{1,20})\\.(\\d{1,18})(?:\\.(\\d{1,18})\\.(.+))?", Pattern.DOTALL);
  private static final TableOffset BEGINNING = new TableOffset(TablePosition.BEGINNING, Optional.empty());

  /**
   * A turn of an actor.
   *
   * @param key the key of the actor
   */
  record TurnId(String key, long number) {}

  /** Parses an offset. An empty text means the beginning of the history. */
  static TableOffset of(String text, String kind) {
    if (text.isEmpty()) return BEGINNING;
    var matcher = FORM.matcher(text);
    if (!matcher.matches())
      throw new IllegalArgumentException("'" + text + "' is no offset in the history of kind '" + kind + "'");
    return new TableOffset(new TablePosition(matcher.group(1), Long.parseLong(matcher.group(2))),
        Optional.ofNullable(matcher.group(4)).map(key -> new TurnId(key, Long.parseLong(matcher.group(3)))));
  }

  @Override
  public String toString() {
    return position + turn.map(id -> "." + id.number + "." + id.key).orElse("");
  }
}
