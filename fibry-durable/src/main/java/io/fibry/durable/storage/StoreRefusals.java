package io.fibry.durable.storage;

import io.fibry.store.StoreUnconfirmedException;
import io.fibry.store.StoreException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** The reasons for which a store did not complete operations. */
public final class StoreRefusals {
  private StoreRefusals() {}

  /** Returns the exception of the store in the failure of a future. */
  public static StoreException causeOf(Throwable failure) {
    var cause = failure instanceof CompletionException || failure instanceof ExecutionException ? failure.getCause()
        : failure;
    return cause instanceof StoreException refusal ? refusal : new StoreUnconfirmedException("the store failed", cause);
  }
}
