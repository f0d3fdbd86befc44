package io.fibry.block;

import io.fibry.ActorBuilder;
import io.fibry.mailbox.Mailbox;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Makes changed copies of immutable objects. */
public final class ChangedCopy {
  private ChangedCopy() {}

  /** Makes a clone, and changes it before any other thread can see it. */
  @SuppressWarnings("unchecked") // a clone is of the same type
  public static <O> O of(Callable<Object> clone, Consumer<O> change) {
    O copy;
    try {
      copy = (O) clone.call();
    } catch (Exception impossible) {
      throw new AssertionError(impossible);
    }
    change.accept(copy);
    VarHandle.storeStoreFence(); // a thread that gets the copy by a data race sees all its fields
    return copy;
  }

  /** Returns an unmodifiable copy of the list, with the element added at its end. */
  public static <T> List<T> append(List<? extends T> list, T element) {
    return Stream.concat(list.stream(), Stream.of(element)).toList();
  }

  /**
   * Calls the user's function with the default options, and returns the options that it returns.
   */
  public static <O> O optionsOf(O defaults, UnaryOperator<O> options) {
    return Objects.requireNonNull(Objects.requireNonNull(options, "options").apply(defaults),
        "the function `options` returned null; it must return the options that it gets, changed or not");
  }

  /**
   * Returns a copy of the builder, for actors that handle a block's own messages. The copy has an
   * unbounded mailbox, because the user's mailbox may be a priority mailbox that can compare only
   * the user's messages.
   */
  @SuppressWarnings("unchecked")
  public static ActorBuilder<Object> forBlockMessages(ActorBuilder<?> builder) {
    return ((ActorBuilder<Object>) builder).mailbox(Mailbox.unbounded());
  }
}
