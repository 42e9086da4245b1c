// commentId returns the id of a comment's element, which is also the name of the comment in an address.
export const commentId = (id: string) => `comment-${id}`;
