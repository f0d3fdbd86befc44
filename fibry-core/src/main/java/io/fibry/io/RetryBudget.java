package io.fibry.io;

/**
 * A budget of retries. It begins with its maximum. Every ten downloads add one retry. Thread-safe.
 */
final class RetryBudget {
  private static final long DOWNLOADS_PER_RETRY = 10;

  private final long maxSavedDownloads;
  private long savedDownloads; // guarded by this

  RetryBudget(int maxRetries) {
    this.maxSavedDownloads = maxRetries * DOWNLOADS_PER_RETRY;
    this.savedDownloads = maxSavedDownloads;
  }

  synchronized void countDownload() {
    savedDownloads = Math.min(maxSavedDownloads, savedDownloads + 1);
  }

  synchronized boolean takeRetry() {
    if (savedDownloads < DOWNLOADS_PER_RETRY) return false;
    savedDownloads -= DOWNLOADS_PER_RETRY;
    return true;
  }
}
