package io.fibry.dashboard;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Groups of actors, each of which the page folds into one line. The actors of a group have one
 * scope and kind, and names that differ only in a number or key. If many other actors of a scope
 * and kind are quiet, they become a group, too. The actors of a group are quiet, or they are the
 * connections of a server, which the table of routes shows better. An actor with a problem is in no
 * group.
 */
final class IdleGroups {
  static final int MIN_ALIKE = 5; // actors in a group with alike names
  static final int MIN_CONNECTIONS = 2; // in a group of connections
  static final int MIN_OTHERS = 20; // actors in a group of a kind

  /** A group; {@code pattern} is empty for the group of a kind. */
  private record GroupKey(int scope, String kind, String pattern) {}

  private final List<Map<String, Object>> maps = new ArrayList<>();
  private final Map<ActorRow, Integer> indexes = new IdentityHashMap<>();

  IdleGroups(List<ActorRow> rows) {
    var rowsByPattern = new LinkedHashMap<GroupKey, List<ActorRow>>();
    for (var row : rows) if (!row.hasProblem())
      rowsByPattern.computeIfAbsent(new GroupKey(row.scope(), row.stats().kind(), pattern(row.stats().name())),
          key -> new ArrayList<>()).add(row);
    var rowsByKind = new LinkedHashMap<GroupKey, List<ActorRow>>();
    rowsByPattern.forEach((key, alike) -> {
      if (alike.size() >= MIN_CONNECTIONS && alike.stream().anyMatch(ActorRow::isConnection)) {
        add(key, alike);
        return;
      }
      var members = alike.stream().filter(ActorRow::isQuiet).toList();
      if (members.size() >= MIN_ALIKE) add(key, members);
      else rowsByKind.computeIfAbsent(new GroupKey(key.scope, key.kind, ""), kind -> new ArrayList<>()).addAll(members);
    });
    rowsByKind.forEach((key, members) -> {
      if (members.size() >= MIN_OTHERS) add(key, members);
    });
  }

  private void add(GroupKey key, List<ActorRow> members) {
    int working = 0;
    long waiting = 0;
    long handled = 0;
    long failed = 0;
    long refused = 0;
    long dropped = 0;
    double perSecond = 0; // NaN if the rate of a member is not known
    for (var row : members) {
      indexes.put(row, maps.size());
      if (row.stats().busyFor().isPositive()) working++;
      waiting += row.stats().queued();
      handled += row.stats().handled();
      failed += row.stats().failed();
      refused += row.stats().refused();
      dropped += row.stats().dropped();
      perSecond += row.trend().perSecond();
    }
    maps.add(JsonText.object("scope", key.scope, "name", key.pattern, "kind", key.kind, "actors", members.size(),
        "working", working, "waiting", waiting, "handled", handled, "perSecond", ActorRow.rounded(perSecond), "failed",
        failed, "refused", refused, "dropped", dropped));
  }

  /** Returns a JSON object for each group. */
  List<Map<String, Object>> maps() {
    return maps;
  }

  /** Returns the index of the group that contains the row, or -1 if none does. */
  int indexOf(ActorRow row) {
    return indexes.getOrDefault(row, -1);
  }

  /**
   * Returns the name with a {@code *} in place of the parts in which the names of such actors
   * differ. These are words with a digit, and the text after a slash, a colon or an at sign.
   */
  static String pattern(String name) {
    var pattern = new StringBuilder(name.length() + 1);
    for (int i = 0; i < name.length();) {
      char character = name.charAt(i);
      if (Character.isLetterOrDigit(character)) i = addWord(name, i, pattern);
      else {
        pattern.append(character);
        i++;
        if ((character == '/' || character == ':' || character == '@') && i < name.length())
          return pattern.append('*').toString();
      }
    }
    return pattern.toString();
  }

  /**
   * Adds the pattern of the word that begins at an index, and returns the index of its end. Keeps
   * the letters of a word such as "session17", and no letter of a word such as "4f1a".
   */
  private static int addWord(String name, int start, StringBuilder pattern) {
    int firstDigit = -1;
    boolean isMixed = false; // whether a letter follows a digit
    int end = start;
    for (; end < name.length() && Character.isLetterOrDigit(name.charAt(end)); end++)
      if (!Character.isDigit(name.charAt(end))) isMixed |= firstDigit >= 0;
      else if (firstDigit < 0) firstDigit = end;
    if (firstDigit < 0) pattern.append(name, start, end);
    else pattern.append(name, start, isMixed ? start : firstDigit).append('*');
    return end;
  }
}
