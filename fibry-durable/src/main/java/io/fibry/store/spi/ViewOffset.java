package io.fibry.store.spi;

import io.fibry.store.Store;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/**
 * The offset up to which a named view has read. It is stored as the body of the last turn of an
 * actor of the kind {@link StoreBackend#VIEWS}. Stores read it, because turns that
 * {@link StoreBackend#end} replaced stay until all views of their kind have read them.
 *
 * @param kind the kind of the actors whose events the view reads
 * @param name the name of the view
 * @param offset the offset of the turn that the view read last, or empty if it has read none
 */
public record ViewOffset(String kind, String name, String offset) {
  private static final byte[] FORGOTTEN = "-".getBytes(StandardCharsets.UTF_8); // never an offset

  /** Checks that no component is null. */
  public ViewOffset {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(offset, "offset");
  }

  /**
   * Reads the offset of a view from the last turn of its actor.
   *
   * @param actor an actor of any kind
   * @param body the body of its last turn
   * @return the offset; empty if the actor does not belong to a view, or if the view was forgotten
   */
  public static Optional<ViewOffset> of(Store.ActorId actor, byte[] body) {
    if (Arrays.equals(body, FORGOTTEN)) return Optional.empty();
    return kindReadBy(actor).map(kind -> new ViewOffset(kind, actor.key().substring(kind.length() + 1),
        new String(body, StandardCharsets.UTF_8)));
  }

  /** {@return the body of the last turn of a view that was forgotten} */
  public static byte[] forgottenBody() {
    return FORGOTTEN.clone();
  }

  /**
   * Returns the kind that the view of an actor reads, even if the view was forgotten.
   *
   * @param actor an actor of any kind
   * @return the kind; empty if the actor does not belong to a view
   */
  public static Optional<String> kindReadBy(Store.ActorId actor) {
    int colon = actor.key().indexOf(':');
    return actor.kind().equals(StoreBackend.VIEWS) && colon >= 0 ? Optional.of(actor.key().substring(0, colon))
        : Optional.empty();
  }

  /** {@return the actor that stores the offset of this view} */
  public Store.ActorId actor() {
    return new Store.ActorId(StoreBackend.VIEWS, kind + ":" + name);
  }

  /** {@return the body of a turn that stores this offset} */
  public byte[] body() {
    return offset.getBytes(StandardCharsets.UTF_8);
  }
}
