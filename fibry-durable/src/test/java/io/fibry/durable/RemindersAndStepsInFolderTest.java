package io.fibry.durable;

class RemindersAndStepsInFolderTest extends RemindersAndStepsContract {
  RemindersAndStepsInFolderTest() {
    super(FolderStores::new);
  }
}
