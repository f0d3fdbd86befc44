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

/** Changed copies of immutable objects. */
public final class ChangedCopy {
  private ChangedCopy() {}

  /** A clone, changed before it is shared. */
  @SuppressWarnings("unchecked") // a clone is of the same type
  public static <O> O of(Callable<Object> clone, Consumer<O> change) {
    O copy;
    try {
      copy = (O) clone.call();
    } catch (Exception impossible) {
      throw new AssertionError(impossible);
    }
    change.accept(copy);
    VarHandle.storeStoreFence(); // a thread that finds the copy by a race sees it whole
    return copy;
  }

  /** A list with one more. */
  public static <T> List<T> append(List<? extends T> list, T added) {
    return Stream.concat(list.stream(), Stream.of(added)).toList();
  }

  /** Applies the user's changes to the default options. */
  public static <O> O of(O defaults, UnaryOperator<O> options) {
    return Objects.requireNonNull(Objects.requireNonNull(options, "options").apply(defaults),
        "options returned null; return the options it was given, changed or not");
  }

  /** For actors with other messages than the user's. Only the mailbox minds the type. */
  @SuppressWarnings("unchecked")
  public static ActorBuilder<Object> withOwnMessages(ActorBuilder<?> builder) {
    return ((ActorBuilder<Object>) builder).mailbox(Mailbox.unbounded());
  }
}
