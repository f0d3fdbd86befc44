package io.fibry.store;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/**
 * Where a named view stands, as the last turn of its actor of the kind {@link Store#VIEWS} says.
 * For stores: turns that {@link Store#end} replaced stay until all views of their kind have passed
 * them.
 *
 * @param kind of the actors whose events the view reads
 * @param name of the view
 * @param offset the place of the turn that it read last, or empty if it has read none
 */
public record ViewOffset(String kind, String name, String offset) {
  private static final byte[] FORGOTTEN = "-".getBytes(StandardCharsets.UTF_8); // no store has such a place

  /** Checks it. */
  public ViewOffset {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(offset, "offset");
  }

  /**
   * Reads it.
   *
   * @param actor which may be that of a view
   * @param body of its last turn
   * @return empty if the actor does not belong to a view, or if the view was forgotten
   */
  public static Optional<ViewOffset> of(Store.ActorId actor, byte[] body) {
    if (Arrays.equals(body, FORGOTTEN)) return Optional.empty();
    return kindOf(actor).map(kind -> new ViewOffset(kind, actor.key().substring(kind.length() + 1),
        new String(body, StandardCharsets.UTF_8)));
  }

  /** {@return the body of the last turn of a view that was forgotten} */
  public static byte[] forgotten() {
    return FORGOTTEN.clone();
  }

  /**
   * The kind that an actor of a view reads, also if the view was forgotten.
   *
   * @param actor which may be that of a view
   * @return empty if it is none
   */
  public static Optional<String> kindOf(Store.ActorId actor) {
    int end = actor.key().indexOf(':');
    return actor.kind().equals(Store.VIEWS) && end >= 0 ? Optional.of(actor.key().substring(0, end)) : Optional.empty();
  }

  /** {@return the actor that says where the view stands} */
  public Store.ActorId actor() {
    return new Store.ActorId(Store.VIEWS, kind + ":" + name);
  }

  /** {@return the body of a turn that has this place} */
  public byte[] body() {
    return offset.getBytes(StandardCharsets.UTF_8);
  }
}
