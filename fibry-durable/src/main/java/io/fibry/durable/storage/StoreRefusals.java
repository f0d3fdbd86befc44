package io.fibry.durable.storage;

import io.fibry.store.StoreUnconfirmedException;
import io.fibry.store.StoreException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Finds out why a store did not complete an operation. */
public final class StoreRefusals {
  private StoreRefusals() {}

  /** Returns the store's exception from the failure of a future. Wraps any other failure. */
  public static StoreException causeOf(Throwable failure) {
    var cause = failure instanceof CompletionException || failure instanceof ExecutionException ? failure.getCause()
        : failure;
    return cause instanceof StoreException refusal ? refusal : new StoreUnconfirmedException("the store failed", cause);
  }
}
