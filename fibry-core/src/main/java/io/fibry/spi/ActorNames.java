package io.fibry.spi;

import java.util.Collection;
import java.util.List;
import java.util.Objects;

/**
 * Names of actors, and beginnings of names that end in {@code *}, for libraries of metrics:
 * {@code cart-*} means all actors whose name begins with {@code cart-}. An actor belongs to the
 * first name in the list that matches its name. Immutable.
 */
public final class ActorNames {
  private static final String ANY_END = "*";

  private final List<String> names;

  private ActorNames(List<String> names) {
    this.names = names;
  }

  /**
   * {@return the names, in this order}
   *
   * @param names names and beginnings of names; at least one
   * @throws IllegalArgumentException if there is no name, a name is blank, or a name before another
   * name matches all actors of the other name
   */
  public static ActorNames of(Collection<String> names) {
    var list = List.copyOf(Objects.requireNonNull(names, "names"));
    if (list.isEmpty()) throw new IllegalArgumentException("no name of an actor is given; give at least one name");
    for (int i = 0; i < list.size(); i++) checkReachable(list, i);
    return new ActorNames(list);
  }

  private static void checkReachable(List<String> names, int index) {
    String name = names.get(index);
    if (name.isBlank()) throw new IllegalArgumentException(
        "a blank name matches no actor; give a name, or a beginning such as \"cart-*\"");
    int first = indexIn(names.subList(0, index), name);
    if (first < 0) return;
    String earlier = names.get(first);
    throw new IllegalArgumentException(earlier.equals(name) ? "\"" + name + "\" is given twice; give each name once"
        : "\"" + name + "\" can match no actor, because \"" + earlier + "\" before it matches the same actors; give \""
            + name + "\" first");
  }

  /**
   * {@return the index of the first name in the list that matches this actor; -1 if none does}
   *
   * @param actorName the name of an actor
   */
  public int indexOf(String actorName) {
    return indexIn(names, actorName);
  }

  private static int indexIn(List<String> names, String actorName) {
    for (int i = 0; i < names.size(); i++) if (matches(names.get(i), actorName)) return i;
    return -1;
  }

  /** Makes no object, because an actor may end while no memory is left. */
  private static boolean matches(String name, String actorName) {
    return name.endsWith(ANY_END) ? actorName.regionMatches(0, name, 0, name.length() - ANY_END.length())
        : name.equals(actorName);
  }

  /** {@return the names, as they were given} */
  public List<String> list() {
    return names;
  }

  @Override
  public String toString() {
    return names.toString();
  }
}
